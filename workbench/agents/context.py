"""The conversation as a model gets it: messages made from the state, cut to a window.

Owns the order and the joining of messages and which of them are fresh. Recorded text is used where
the exact bytes are not kept or cannot be read; nothing that fell out of the window is unsealed.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from workbench.agents.results import reply_note, result, undo_note
from workbench.agents.state import Heard, Note, Past, Prompt, Reply, Said, TurnCall, TurnState, UndoneChange
from workbench.domain.messages import Message, MessageCall
from workbench.domain.values import BlobRef, Json, JsonObject, ReplyCall
from workbench.text import canonical

Messages = tuple[Message, ...]


def messages(
    state: TurnState,
    unseal: Callable[[BlobRef], bytes | None],
    limit: int,
    wire_names: Callable[[str], str],
) -> tuple[Messages, Messages]:
    """Return what a model call in this state sends, and the part of it that is new.

    Args:
        state: The state before or after the `turn.started` of that call: both give the same.
        unseal: Returns the bytes behind a reference, None where they are gone.
        limit: How many messages to send besides the system prompt (S0: 100). What is new, and the
            calls that it answers, is sent whole even where it alone is longer.
        wire_names: The name of a tool on the wire; returns what it does not know as it came.
    """
    writer = _Writer(unseal=unseal, wire_names=wire_names)
    user = writer.user(state.unsent)
    calls = writer.reply(state.reply) if state.reply and state.calls else ()
    past = Past(state.reply, state.past) if state.reply and not calls else state.past
    kept = _window(writer.earlier(past or ()), limit - len(calls) - len(user))
    return (*writer.system(state), *_merged((*kept, *calls, *user))), (*calls[1:], *user)


def _window(units: Iterable[Messages], limit: int) -> Messages:
    """Return the newest units that fit, oldest first; a unit is never cut."""
    kept: list[Messages] = []
    for unit in units:
        limit -= len(unit)
        if limit < 0:
            break
        kept.append(unit)
    return tuple(message for unit in reversed(kept) for message in unit)


def _merged(conversation: Messages) -> Iterator[Message]:
    """Yield messages with neighbouring user messages made one (S4: two in a row are refused)."""
    last: Message | None = None
    for message in conversation:
        if last is not None and last.role == message.role == "user":
            last = Message(role="user", content=f"{last.content}\n\n{message.content}")
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


def grouped(heard: Iterable[Heard]) -> Iterator[Prompt | Note | tuple[UndoneChange, ...]]:
    """Yield prompts one by one, and undone changes that follow one another as one group."""
    group: list[UndoneChange] = []
    for item in heard:
        if isinstance(item, UndoneChange):
            group.append(item)
            continue
        if group:
            yield tuple(group)
            group.clear()
        yield item
    if group:
        yield tuple(group)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    unseal: Callable[[BlobRef], bytes | None]
    wire_names: Callable[[str], str]

    def system(self, state: TurnState) -> Messages:
        created = state.created
        text = self.exact(created.system_prompt, created.system_prompt_ref) if created else ""
        return (Message(role="system", content=text),) if text else ()

    def earlier(self, past: Iterable[Said | Reply]) -> Iterator[Messages]:
        """Yield the messages of what was said, the newest first."""
        for item in past:
            yield self.user(item.prompts) if isinstance(item, Said) else self.reply(item)

    def user(self, heard: tuple[Heard, ...]) -> Messages:
        texts = map(self.heard, grouped(heard))
        content = "\n\n".join(text for text in texts if text)
        return (Message(role="user", content=content),) if content else ()

    def heard(self, item: Prompt | Note | tuple[UndoneChange, ...]) -> str:
        match item:
            case Prompt(text=text, text_ref=ref):
                return self.exact(text, ref)
            case Note(text=text):
                return reply_note(text)
            case _:
                return undo_note(item, self.wire_names)

    def reply(self, reply: Reply) -> Messages:
        """Return the assistant's message and the results of its calls; nothing where it said nothing."""
        text = self.exact(reply.body.text, reply.body.text_ref)
        if not text and not reply.calls:
            return ()
        calls = tuple(map(self.call, reply.body.calls))
        said = Message(role="assistant", content=text, calls=calls)
        return (said, *(self.result(made, call.id) for made, call in zip(reply.calls, calls, strict=True)))

    def call(self, call: ReplyCall) -> MessageCall:
        return MessageCall(
            id=call.provider_call_id or call.call_id,
            tool=self.wire_names(call.tool),
            arguments=self.arguments(call),
        )

    def arguments(self, call: ReplyCall) -> JsonObject:
        text = self.exact("", call.arguments_ref)
        try:
            value: Json = canonical.loads(text) if text else None
        except ValueError:
            value = None
        return cast("JsonObject", value) if isinstance(value, dict) else call.arguments

    def result(self, call: TurnCall, provider_call_id: str) -> Message:
        finished = call.finished
        output = self.exact(finished.preview, finished.result_ref) if finished else ""
        text, outcome = result(call, output)
        return Message(role="tool", content=text, tool_call_id=provider_call_id, outcome=outcome)

    def exact(self, recorded: str, ref: BlobRef | None) -> str:
        """Return the exact text behind a reference, else the recorded one."""
        data = self.unseal(ref) if ref else None
        if data is None:
            return recorded
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return recorded
