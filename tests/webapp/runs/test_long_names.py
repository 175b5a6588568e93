"""Value types of imports with long names: what every database can hold."""

from __future__ import annotations

from collections.abc import Callable

from webapp.runs.models import Run


def test_a_unit_as_long_as_a_value_types_name_fits_its_column(uploaded_run: Callable[..., Run]) -> None:
    name = "n" * 200

    run = uploaded_run(f"# memflame-folded 1\n# values: {name}\nmain 1\n".encode())

    assert run.value_type == name
    assert run.unit == name[: Run._meta.get_field("unit").max_length]
