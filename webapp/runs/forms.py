"""Forms of a new recording and of an upload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from tracer import protocol
from tracer.options.allocators import ALLOCATOR_OPTIONS, MAX_OPTION_LENGTH
from tracer.options.blocks import BLOCK_OPTIONS, COLLECTOR
from tracer.options.errors import BadOption
from tracer.options.modes import DEFAULT_MODE, MODE, MODE_OPTIONS, MODES
from tracer.options.perf import SOURCE
from tracer.options.pull import FILES, MAX_LENGTH, PULL_OPTIONS, PULLED
from tracer.options.unwind import AUTO, UNWIND, UNWINDS
from tracer.protocol import check_run_options
from webapp.hosts.abilities import Ability, abilities_of, key_of
from webapp.hosts.models import Host
from webapp.runs.listing import BadFilter, parse_label
from webapp.runs.targets import TARGET_FIELDS, TARGET_OPTIONS, BadTarget, same_command, with_pids

DURATIONS = [("10", "10 s"), ("60", "1 min"), ("600", "10 min"), ("own", "own")]
DEFAULT_DURATION = "60"
SNAPSHOTS_BY_DEFAULT = 10  # enough to see a slope, and a tenth of the run lost at worst
SHORTEST_INTERVAL_S = 1.0
SOURCES = [("", "our own programs, or perf where there is no bcc"), ("perf", "perf")]
# Those that the form has fields for.
RUN_OPTIONS = (
    *BLOCK_OPTIONS, *MODE_OPTIONS, *ALLOCATOR_OPTIONS, UNWIND, "lines", "budget", "max_stacks", "max_blocks", SOURCE,
)  # fmt: skip
SHOWN_OPTIONS = (*RUN_OPTIONS, *TARGET_FIELDS)
LINES = [("", "The function"), ("1", "The function, with file and line where known")]
USUAL = ("", None, False, AUTO)  # what an option has that nobody chose
MAX_LABELS, MAX_KEY, MAX_VALUE = 20, 60, 200


def plain(text: str) -> None:
    """Control characters would break lines, logs and the folded header."""
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise ValidationError("This holds a control character, such as a tab or a line break. Take it out.")


class LabelsField(forms.CharField):
    """`key=value, key=value` to a dict."""

    def clean(self, value: Any) -> dict[str, str]:
        text = super().clean(value)
        try:
            labels = dict(parse_label(part) for part in text.split(",") if part.strip())
        except BadFilter as error:
            raise ValidationError(f"{error}. Separate labels by commas.".replace("key:value", "key=value")) from None
        if len(labels) > MAX_LABELS:
            raise ValidationError(f"These are {len(labels)} labels, the limit is {MAX_LABELS}.")
        for key, word in labels.items():
            if len(key) > MAX_KEY or len(word) > MAX_VALUE:
                limit = f"{MAX_KEY} characters, and {MAX_VALUE} of value, are the limit"
                raise ValidationError(f"The label “{key[:MAX_KEY]}” is too long: {limit}.")
        return labels


class AboutForm(forms.Form):
    """What a run is of: the words it is found by later."""

    service = forms.CharField(required=False, max_length=100, validators=[plain])
    deploy = forms.CharField(required=False, max_length=100, validators=[plain])
    labels = LabelsField(required=False, max_length=2000, validators=[plain])


class NewRunForm(AboutForm):
    """A recording on one host, checked against the host's live list."""

    process = forms.CharField(error_messages={"required": "Pick a process."})
    collector = forms.ChoiceField(error_messages={"required": "Pick a collector."})
    duration = forms.ChoiceField(choices=DURATIONS, initial=DEFAULT_DURATION)
    own_duration = forms.FloatField(required=False, error_messages={"invalid": "Enter a number of seconds."})
    snapshot_every = forms.FloatField(required=False, error_messages={"invalid": "Enter a number of seconds."})

    follow_children = forms.BooleanField(required=False)
    all_named = forms.BooleanField(required=False)
    by_process = forms.BooleanField(required=False)
    also_pids = forms.CharField(required=False, max_length=500, validators=[plain])

    age_bands = forms.CharField(required=False, max_length=60)
    older_than = forms.CharField(required=False, max_length=20)
    min_size = forms.IntegerField(required=False, error_messages={"invalid": "Enter a whole number of bytes."})
    max_size = forms.IntegerField(required=False, error_messages={"invalid": "Enter a whole number of bytes."})
    mode = forms.ChoiceField(required=False, choices=[*MODES.items()], initial=DEFAULT_MODE)
    sample_bytes = forms.IntegerField(required=False, error_messages={"invalid": "Enter a whole number of bytes."})
    unwind = forms.ChoiceField(required=False, choices=[*UNWINDS.items()], initial=AUTO)
    lines = forms.TypedChoiceField(required=False, choices=LINES, coerce=int, empty_value=None)
    budget = forms.CharField(required=False, max_length=20)
    max_stacks = forms.IntegerField(required=False, error_messages={"invalid": "Enter a whole number of stacks."})
    max_blocks = forms.IntegerField(required=False, error_messages={"invalid": "Enter a whole number of blocks."})

    alloc = forms.CharField(required=False, max_length=MAX_OPTION_LENGTH)
    free = forms.CharField(required=False, max_length=MAX_OPTION_LENGTH)
    addr = forms.CharField(required=False, max_length=MAX_OPTION_LENGTH)
    source = forms.ChoiceField(required=False, choices=SOURCES)

    url = forms.CharField(required=False, max_length=MAX_LENGTH)
    once = forms.BooleanField(required=False)

    def __init__(self, *args: Any, host: Host, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.host = host
        self.abilities = abilities_of(host)
        self.fields["collector"] = forms.ChoiceField(
            choices=[(ability.collector.name, ability.collector.title) for ability in self.abilities],
            error_messages=self.fields["collector"].error_messages,
        )
        self.fields[FILES] = forms.CharField(required=False, max_length=MAX_LENGTH)  # a form has another `files`
        self.found_process: Mapping[str, Any] = {}
        self.found_processes: list[Mapping[str, Any]] = []

    def clean_process(self) -> str:
        key = str(self.cleaned_data["process"])
        found = [process for process in self.host.processes if key_of(process) == key]
        if not found:
            pid = key.partition("-")[0][:10]
            raise ValidationError(
                f"Process {pid} has ended, or its pid is another process now. Pick again from the list."
            )
        self.found_process = found[0]
        return key

    def clean_collector(self) -> str:
        name = str(self.cleaned_data["collector"])
        ability = self._ability(name)
        if not ability.is_able:
            raise ValidationError(f"{self.host.name} can’t run {name}: {ability.why_not}")
        return name

    def _ability(self, collector: str) -> Ability:
        return next(ability for ability in self.abilities if ability.collector.name == collector)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if not self.host.is_reporting:
            raise ValidationError(f"{self.host.name} does not report now, so nothing can be recorded there.")
        if "duration" in data:
            self._clean_times(data)
        if "collector" in data:
            self._clean_options(data)
        if self.found_process:
            self._clean_targets(data)
        return data

    def _clean_targets(self, data: dict[str, Any]) -> None:
        chosen = [self.found_process]
        if data.get("collector") in PULLED:  # each process makes a profile of its own
            self.found_processes = chosen
            return
        if data.get("all_named"):
            chosen = same_command(self.host, self.found_process)
        try:
            self.found_processes = with_pids(self.host, chosen, data.get("also_pids", ""))
        except BadTarget as error:
            self.add_error("also_pids", str(error))

    def _clean_options(self, data: dict[str, Any]) -> None:
        """Those that were filled in, as the run spec has them."""
        is_pulled = data["collector"] in PULLED
        known = PULL_OPTIONS if is_pulled else RUN_OPTIONS  # the page hides the fields of the others
        data["options"] = {name: data[name] for name in known if data.get(name) not in USUAL}
        if not is_pulled:
            data["options"] |= {name: 1 for name in TARGET_OPTIONS if data.get(name)}
            self._clean_source(data)
        if data["collector"] == COLLECTOR and SOURCE not in data["options"]:
            data["options"].setdefault(MODE, DEFAULT_MODE)  # a spec without one is exact
        try:
            check_run_options(data["collector"], data["options"])
        except BadOption as error:
            self.add_error(error.name, f"This is {error.reason}.")

    def _clean_source(self, data: dict[str, Any]) -> None:
        """perf where nobody chose and only perf can."""
        ability = self._ability(data["collector"])
        if ability.is_by_perf_only:
            data["options"].setdefault(SOURCE, "perf")
        if SOURCE in data["options"] and not ability.is_able_by_perf:
            self.add_error(SOURCE, f"{self.host.name} can’t do this by perf: {ability.why_not_by_perf}")

    @property
    def has_options(self) -> bool:
        """Whether more than the usual is asked for, or wrong: that must not be hidden."""
        return any(self[name].value() not in USUAL or self[name].errors for name in SHOWN_OPTIONS)

    def _clean_times(self, data: dict[str, Any]) -> None:
        duration_s = self._duration_s(data)
        if duration_s is None:
            return
        data["duration_s"] = duration_s
        if data.get("once") and data.get("collector") in PULLED:
            data["snapshot_every_s"] = 0.0
            return
        every = data.get("snapshot_every") or default_interval_s(duration_s)
        if every < SHORTEST_INTERVAL_S:
            self.add_error("snapshot_every", f"{every:g} s is too often, the least is {SHORTEST_INTERVAL_S:g} s.")
        elif duration_s / every > protocol.MAX_SNAPSHOTS:
            count = f"{duration_s / every:,.0f}"
            self.add_error(
                "snapshot_every", f"That would be {count} snapshots, the limit is {protocol.MAX_SNAPSHOTS:,}."
            )
        else:
            data["snapshot_every_s"] = min(every, duration_s)

    def _duration_s(self, data: dict[str, Any]) -> float | None:
        if data["duration"] != "own":
            return float(data["duration"])
        seconds = data.get("own_duration")
        if seconds is None:
            if "own_duration" not in self.errors:
                self.add_error("own_duration", "Enter a number of seconds.")
            return None
        if not SHORTEST_INTERVAL_S <= seconds <= protocol.MAX_DURATION_S:
            limits = f"at least {SHORTEST_INTERVAL_S:g} s, at most {protocol.MAX_DURATION_S:,} s"
            self.add_error("own_duration", f"{seconds:g} s is out of range: {limits}.")
            return None
        return float(seconds)


def default_interval_s(duration_s: float) -> float:
    return max(duration_s / SNAPSHOTS_BY_DEFAULT, SHORTEST_INTERVAL_S)


class _SeveralFiles(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or several, each checked like one."""

    widget = _SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile[bytes]]:
        files = data if isinstance(data, list) else [data]
        return [super(FilesField, self).clean(file, initial) for file in files or [None]]


class UploadForm(AboutForm):
    file = FilesField(
        error_messages={"required": "Choose a file.", "empty": "The file is empty: 0 bytes came. Choose another."},
    )
