// A pprof file on standard input to its sample types, their sums and its stacks, as pprof-format reads them.
import { gunzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { Profile } from "pprof-format";

const profile = Profile.decode(gunzipSync(readFileSync(0)));
const text = (index) => profile.stringTable.strings[Number(index)];
const location = new Map(profile.location.map((each) => [String(each.id), each]));
const functionName = new Map(profile.function.map((each) => [String(each.id), text(each.name)]));
const nameOf = (id) => functionName.get(String(location.get(String(id)).line[0].functionId));

const types = profile.sampleType.map(({ type, unit }) => `${text(type)}/${text(unit)}`);
// It gives out the 64 bits of a value without their sign.
const signed = (value) => BigInt.asIntN(64, BigInt(value));
const sums = types.map((_, i) => profile.sample.reduce((sum, { value }) => sum + signed(value[i]), 0n));
const stacks = profile.sample.map(({ locationId, value }) => [
  locationId.map(nameOf).reverse().join(";"),
  value.map(signed).map(String),
]);
console.log(
  JSON.stringify({
    types,
    sums: sums.map(String),
    stacks: Object.fromEntries(stacks),
    first: text(profile.defaultSampleType),
  }),
);
