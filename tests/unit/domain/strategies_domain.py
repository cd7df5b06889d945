"""Strategies for whole events: every kind, with every field filled from its own type."""

import msgspec
from hypothesis import strategies as st

from workbench.domain import codec, values
from workbench.domain import events as e

texts = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=20)
ids = st.sampled_from(["one", "two", "three"])
micros = st.integers(0, 2**52)

json_objects = st.dictionaries(
    texts, st.one_of(st.none(), st.booleans(), st.integers(-9, 9), texts), max_size=3
)

st.register_type_strategy(str, texts)


def body_strategy(cls):
    overrides = {
        "configuration": json_objects,
        "parameters": json_objects,
        "metadata": json_objects,
        "subject": json_objects,
    }
    names = {f for f in cls.__struct_fields__}
    given = {name: strategy for name, strategy in overrides.items() if name in names}
    for field in msgspec.structs.fields(cls):
        bound = getattr(msgspec.inspect.type_info(field.type), "ge", None)
        if bound is not None and field.required:
            given[field.name] = st.integers(bound, 2**31)
    for name in ("created_at", "expires_at", "approved_until", "at"):
        if name in names:
            given[name] = micros
    if cls is e.ReplyCompleted:
        given["calls"] = st.lists(calls, max_size=2).map(tuple)
    if cls is e.RunStarted:
        given["steps"] = st.lists(plans, max_size=2).map(tuple)
    if cls is e.ActionOpened:
        given["hunks"] = st.lists(hunks, max_size=2).map(tuple)
    return st.builds(cls, **given)


calls = st.builds(values.ReplyCall, call_id=ids, arguments=json_objects)
plans = st.builds(
    values.StepPlan, id=ids, needs=st.lists(ids, max_size=2).map(tuple), name=texts, attempts=st.integers(1, 9),
    item_count=st.integers(0, 9), contract=texts, is_matrix=st.booleans(),
)  # fmt: skip
hunks = st.builds(
    values.Hunk,
    index=st.integers(1, 9),
    old_start=st.integers(0, 9), old_count=st.integers(0, 9), new_start=st.integers(0, 9), new_count=st.integers(0, 9),
    lines=st.lists(st.tuples(st.sampled_from([" ", "-", "+"]), texts), max_size=3).map(tuple),
)  # fmt: skip

bodies = st.sampled_from(codec.EVENT_BODIES).flatmap(body_strategy)


@st.composite
def events(draw):
    return e.Event(
        id=draw(st.uuids()).hex,
        session_id=draw(ids),
        at=draw(micros),
        actor=draw(
            st.builds(
                values.Actor,
                kind=st.sampled_from(["user", "host", "agent"]),
                pid=st.none() | st.integers(1, 9),
                via=st.none() | st.sampled_from(["cli", "screen"]),
            )
        ),
        body=draw(bodies),
        position=draw(st.integers(0, 99)),
        sequence_number=draw(st.integers(0, 99)),
        turn_id=draw(st.none() | ids),
        call_id=draw(st.none() | ids),
        action_id=draw(st.none() | ids),
    )
