"""The form that adds or changes a provider: a sentence below each field, a trial, saving."""

# What is typed here is text: only f2, ctrl+r and esc do anything. A key is never typed: a text that
# looks like one is refused before it is drawn, and what follows it at once is refused with it.

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from textual import events, on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from workbench.render import cells
from workbench.render.cells import wrap_plain_text
from workbench.text.safe import one_line
from workbench.tui.backend import Trial, error_text
from workbench.tui.keyboard import keymap
from workbench.tui.providers.provider_field import FIELDS, FieldInput, ProviderField
from workbench.tui.render_context import context_of, glyphs, ink
from workbench.tui.widgets.dialog import Dialog
from workbench.views.provider_form import (
    KEY_REFUSED,
    KEY_REFUSED_ELSEWHERE,
    ProviderFields,
    draft_problems,
    is_on_this_machine,
    matching_models,
    suggested_name,
)
from workbench.views.providers import ProviderReport

if TYPE_CHECKING:
    from workbench.tui.main.context import MainContext

_MAX_CHOICES: Final = 4
"""Rows of choices below a field."""
_ROOMY_FROM: Final = 24
"""Rows of the screen from which each field keeps the row of its sentence."""
_PADDED_FROM: Final = 30
"""Rows of the screen from which the box has blanks inside its frame."""
_NARROW_CELLS: Final = 70
"""Cells of the screen up to which sentences begin below the labels."""
_MAX_SAID_LINES: Final = 4
_YES_NO: Final = ("yes", "no")
_KEPT: Final = "The form is kept. p on the first page or /provider add opens it again."


class ProviderDialog(Dialog, inherit_bindings=False):
    """The form over the main screen."""

    BINDINGS = keymap.bindings("provider")

    def __init__(
        self, context: "MainContext", fields: ProviderFields | None, *, is_change: bool = False
    ) -> None:
        """Show a form.

        Args:
            context: Of the main screen.
            fields: What stands in it first; None is an empty form.
            is_change: Whether it is a provider that is set up; it keeps its name.
        """
        super().__init__("provider")
        self._is_change = is_change
        self._main, self._backend = context, context.backend.providers
        self._kinds, self._names = dict(self._backend.kinds()), self._other_names(fields)
        first = fields or ProviderFields()
        if not self._kinds:
            self._kinds = {first.kind: ""}
        values = {spec.id: getattr(first, spec.id) for spec in FIELDS}
        values["is_default"] = _YES_NO[0] if first.is_default else _YES_NO[1]
        self._fields = {spec.id: ProviderField(spec, values[spec.id]) for spec in FIELDS}
        self._fields["kind"].choices = tuple(self._kinds)
        self._fields["is_default"].choices = _YES_NO
        self._fields["name"].input.disabled = is_change
        self._first = first
        self._models: Sequence[str] = ()
        self._models_of: tuple[str, ...] | None = None
        """The server that was asked for its models last."""
        self._models_said = ""
        self._said, self._is_error = "", False
        self._trial: Trial | None = None
        self._trial_began, self._trial_step = 0.0, ""
        self._ticker: Timer | None = None
        self._is_saving = False
        self._scroll = VerticalScroll(id="provider-fields", can_focus=False)
        self._said_line, self._keys = Static(id="provider-said"), Static(id="provider-keys")

    def compose_box(self) -> Iterable[Widget]:
        with self._scroll:
            yield from self._fields.values()
        yield self._said_line
        yield self._keys

    def opened(self) -> None:
        self.set_titles(f"Change {self._first.name}" if self._is_change else "Add a provider", "")
        self._suggest()
        if self._is_change:
            self._fields["base_url"].input.focus()
            self.fill()
            return
        first = next((spec for spec in FIELDS[1:] if not self._fields[spec.id].input.value), FIELDS[1])
        self._fields["model" if self._first.base_url and not self._first.model else first.id].input.focus()
        self.fill()

    def on_unmount(self) -> None:
        """Wait for no server when the program ends."""
        if self._trial is not None:
            self._trial.cancel()

    # --- what stands in the form ----------------------------------------------------------------

    @property
    def fields(self) -> ProviderFields:
        """Return what stands in the form."""
        value = {key: field.input.value.strip() for key, field in self._fields.items()}
        return ProviderFields(
            kind=value["kind"], base_url=value["base_url"], model=value["model"], key_env=value["key_env"],
            key_command=value["key_command"], name=value["name"],
            is_default=value["is_default"].casefold() not in ("no", "n"),
        )  # fmt: skip

    def _other_names(self, fields: ProviderFields | None) -> tuple[str, ...]:
        own = fields.name if fields is not None and self._is_change else ""
        return tuple(name for name in self._backend.names() if name != own)

    @property
    def _focused(self) -> ProviderField | None:
        return next((field for field in self._fields.values() if field.input.has_focus), None)

    def _put(self, field_id: str, text: str) -> None:
        """Let a text stand in a field as a suggestion of ours."""
        field = self._fields[field_id]
        field.suggestion = text
        with field.input.prevent(Input.Changed):
            field.input.value = text
        field.input.cursor_position = len(text)

    def _suggest(self) -> None:
        """Fill in what follows from other fields, where the user wrote nothing of their own."""
        address, name = self._fields["base_url"], self._fields["name"]
        if not address.is_own:
            self._put("base_url", self._kinds.get(self._fields["kind"].input.value, ""))
        if not name.is_own:
            has_address = bool(self._fields["base_url"].input.value)
            self._put("name", suggested_name(self.fields, self._names) if has_address else "")

    @property
    def _problems(self) -> dict[str, str]:
        problems = draft_problems(self.fields, tuple(self._kinds), self._names)
        if self._fields["is_default"].input.value.strip().casefold() not in ("yes", "y", "no", "n"):
            problems["is_default"] = "Write yes or no."
        return problems

    # --- what is shown --------------------------------------------------------------------------

    def fill(self) -> None:
        if not self.is_attached:
            return
        problems, is_roomy = self._problems, self.size.height >= _ROOMY_FROM
        self.box.styles.padding = (1, 2) if self.size.height > _PADDED_FROM else (0, 1)
        self.set_class(self.size.width < _NARROW_CELLS, "-narrow")
        for field_id, field in self._fields.items():
            note = self._note(field, problems.get(field_id, "") if field.is_checked else "")
            field.note.update(note)
            field.note.display = is_roomy or bool(note)
        self._show_said()
        if (focused := self._focused) is not None:
            # The room for the fields is known a refresh later than what stands below them.
            self.call_after_refresh(self.call_after_refresh, focused.scroll_visible, animate=False)

    def _note(self, field: ProviderField, problem: str) -> Content:
        colours, has_focus = ink(self), field.input.has_focus
        if problem := field.refusal or problem:
            return cells.safe_content(problem, colours.of("failed"), colours)
        if has_focus and field.choices:
            return self._choice_rows(field)
        facts = self._facts_of(field)
        if facts:
            return cells.safe_content(glyphs(self).line(facts), colours.of("muted"), colours)
        if not has_focus:
            return Content("")
        hint = Content.styled(glyphs(self).line(field.spec.hint), colours.of("faint"))
        room = field.note.size.width or self.size.width
        return cells.shorten_line(hint, max(8, room), glyphs(self))

    def _facts_of(self, field: ProviderField) -> str:
        """Return what is known of a field beside its text."""
        value = field.input.value.strip()
        match field.spec.id:
            case "key_env" if value:
                is_set = self._backend.is_set(value)
                return (
                    f"{value} is set."
                    if is_set
                    else f"{value} is not set here: export it, then start workbench again."
                )
            case "model":
                return self._models_said
            case "name" if self._is_change:
                return "It keeps its name: sessions remember it by that."
            case _:
                return ""

    def _choice_rows(self, field: ProviderField) -> Content:
        """Return the choices around the one that stands in the field, and how many there are."""
        colours, value = ink(self), field.input.value
        choices = list(field.choices)
        at = choices.index(value) if value in choices else 0
        first = max(0, min(at - _MAX_CHOICES // 2, len(choices) - _MAX_CHOICES))
        lines: list[Content] = []
        for choice in choices[first : first + _MAX_CHOICES]:
            is_here = choice == value
            sign = glyphs(self).of("cursor") if is_here else " "
            style = colours.of("foreground" if is_here else "muted", bold=is_here)
            lines.append(
                Content.styled(sign, colours.of("info"))
                + cells.safe_content(one_line(choice, 80), style, colours)
            )
        if len(choices) > _MAX_CHOICES:
            lines.append(
                Content.styled(glyphs(self).line(f" ↑ ↓ {len(choices)} offered"), colours.of("faint"))
            )
        return Content("\n").join(lines)

    def _show_said(self) -> None:
        colours = ink(self)
        text, shade = self._said, "failed" if self._is_error else "foreground"
        if self._trial is not None:
            seconds = int(context_of(self).monotonic() - self._trial_began)
            text = f"{seconds} s  {self._trial_step} esc stops it."
        elif self._is_saving:
            text = "writing config.json …"
        width = max(8, (self._said_line.size.width or self.size.width - 6) - 2)
        texts = [
            line for part in text.split("\n") for line in wrap_plain_text(glyphs(self).line(part), width)
        ]
        lines = [Content(" ") + line for line in texts[:_MAX_SAID_LINES]] if text else []
        self._said_line.display = bool(lines)
        above_and_below = self.box.gutter.height + 1 + (len(lines) + 1 if lines else 0)
        self._scroll.styles.max_height = max(1, self.size.height - above_and_below)
        self._said_line.update(Content("\n").join(lines).stylize(colours.of(shade)))  # type: ignore[arg-type]
        self._keys.update(self._key_line())

    def _key_line(self) -> Content:
        users, line = keymap.user_keymap(self), glyphs(self).line
        rows = sorted(keymap.keys_of_scopes(["provider"]), key=lambda key: key.footer)
        hints = [
            (line(keymap.printed_keys(key, users)), self._label_of(key.id)) for key in rows if key.footer
        ]
        return self.hint_row(hints, self._keys.size.width or self.size.width - 6, keeps=0)

    def _label_of(self, key_id: str) -> str:
        if key_id == "provider.leave" and self._trial is not None:
            return "stop"
        return keymap.key_of(key_id).label

    def _tell(self, text: str, *, is_error: bool = False) -> None:
        self._said, self._is_error = text, is_error
        self.fill()

    # --- typing ---------------------------------------------------------------------------------

    @on(Input.Changed)
    def _typed(self, message: Input.Changed) -> None:
        message.stop()
        field = next(field for field in self._fields.values() if field.input is message.input)
        if message.value:
            field.refusal = ""
        self._said, self._is_error = "", False
        if field.spec.id == "model":
            field.choices = matching_models(self._models, message.value)
        self._suggest()
        self.fill()

    @on(FieldInput.KeyRefused)
    def _key_refused(self, message: FieldInput.KeyRefused) -> None:
        message.stop()
        is_variable = message.field_id == "key_env"
        self._fields[message.field_id].refusal = KEY_REFUSED if is_variable else KEY_REFUSED_ELSEWHERE
        self.fill()

    @on(Input.Submitted)
    def _entered(self, message: Input.Submitted) -> None:
        message.stop()
        self.to_field(1)

    def on_descendant_focus(self) -> None:
        """Say what the field wants, and ask the server for its models where that is harmless."""
        field = self._focused
        if field is not None:
            field.input.forgive()
            if field.spec.id == "model":
                self._ask_models()
            elif field.spec.id == "is_default":
                field.choices = _YES_NO
        self.fill()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """Say what is wrong in the field that was left."""
        for field in self._fields.values():
            if field.input is event.widget and field.input.value:
                field.is_checked = True
        self.fill()

    def to_field(self, step: int) -> None:
        """Go to the field after (1) or before (-1)."""
        fields = [field for field in self._fields.values() if not field.input.disabled]
        focused = self._focused
        index = fields.index(focused) if focused is not None else 0
        fields[(index + step) % len(fields)].input.focus()

    def choose(self, step: int) -> None:
        """Go to the choice after (1) or before (-1); in a field without choices to another field."""
        field = self._focused
        if field is None or not field.choices:
            self.to_field(step)
            return
        choices, value = list(field.choices), field.input.value
        at = choices.index(value) + step if value in choices else 0
        self._put(field.spec.id, choices[max(0, min(at, len(choices) - 1))])
        field.suggestion, self._said = "", ""
        self._suggest()
        self.fill()

    # --- the server -----------------------------------------------------------------------------

    def _server(self) -> tuple[str, ...]:
        """Return what decides which models are offered."""
        fields = self.fields
        return (fields.kind, fields.base_url, fields.key_env, fields.key_command)

    def _ask_models(self) -> None:
        """Ask the server for its models, once for each address; a key goes nowhere before it is asked for."""
        fields, server = self.fields, self._server()
        if server == self._models_of:
            return
        if "base_url" in self._problems:
            self._models, self._models_said = (), ""
            return
        if not is_on_this_machine(fields.base_url) or fields.key_command:
            self._models_said = "ctrl+r asks the server which models it has."
            return
        self._models_of, self._models_said = server, "asking which models it has …"

        def work() -> None:
            try:
                models, why_not = tuple(self._backend.offered_models(fields)), ""
            except Exception as error:  # noqa: BLE001 whatever a backend says is told, nothing is hidden
                models, why_not = (), error_text(error)
            self._main.call_from_thread(self._take_models, server, models, why_not)

        self.run_worker(
            work, group="models", description="list models", thread=True, exit_on_error=False, exclusive=True
        )

    def _take_models(self, server: tuple[str, ...], models: tuple[str, ...], why_not: str) -> None:
        if not self.is_attached or server != self._models_of:
            return
        self._models = models
        field = self._fields["model"]
        count = "one model" if len(models) == 1 else f"{len(models)} models"
        self._models_said = why_not or (
            f"{count} offered." if models else "It offers no model: load one there."
        )
        if models and not field.input.value:
            self._put("model", models[0])
        elif field.input.value and models and field.input.value not in models:
            self._models_said = f"The server does not list it. {count} offered: ↑ ↓ chooses."
        field.choices = matching_models(models, "")
        self.fill()

    def try_it(self) -> None:
        """Ask for the models, and make one small request with a tool; every step is told with its seconds."""
        if self._trial is not None or self._is_saving:
            return
        if not self._check(without=("name", "model")):
            return
        fields, server = self.fields, self._server()
        trial = Trial(lambda text: self._main.call_from_thread(self._trial_says, trial, text))
        self._trial, self._trial_step = trial, "Asking."
        self._trial_began = context_of(self).monotonic()
        self._ticker = self.set_interval(1.0, self._show_said)

        def work() -> None:
            try:
                report, why_not = self._backend.try_provider(fields, trial), ""
            except Exception as error:  # noqa: BLE001 as above
                report, why_not = None, error_text(error)
            if not trial.is_cancelled:
                self._main.call_from_thread(self._tried, trial, server, report, why_not)

        self.run_worker(
            work, group="trial", description="try a provider", thread=True, exit_on_error=False,
            exclusive=True,
        )  # fmt: skip
        self.fill()

    def _trial_says(self, trial: Trial, text: str) -> None:
        if self.is_attached and trial is self._trial:
            self._trial_step = one_line(text, 200)
            self._show_said()

    def _tried(
        self, trial: Trial, server: tuple[str, ...], report: ProviderReport | None, why_not: str
    ) -> None:
        if not self.is_attached or trial is not self._trial:
            return
        self._end_trial()
        if report is None:
            self._tell(why_not, is_error=True)
            return
        if report.models:
            self._models_of = server
            self._take_models(server, tuple(model.id for model in report.models), "")
        self._tell("\n".join(_report_lines(report)), is_error=not report.is_well)

    def _stop_trial(self) -> None:
        """Wait no longer; what the server still answers is not read."""
        if self._trial is not None:
            self._trial.cancel()
            self._end_trial()
            self._tell("Stopped. Nothing was saved.")

    def _end_trial(self) -> None:
        self._trial = None
        if self._ticker is not None:
            self._ticker.stop()

    # --- saving and leaving ---------------------------------------------------------------------

    def _check(self, without: Sequence[str] = ()) -> bool:
        """Say what is wrong in the form, and go to the first field that is; False if there is any."""
        for field_id, field in self._fields.items():
            field.is_checked = field.is_checked or field_id not in without
        wrong = [field_id for field_id in self._problems if field_id not in without]
        if wrong:
            self._fields[wrong[0]].input.focus()
            if self.size.height < _ROOMY_FROM:
                self._tell("")  # the sentence at the field says it, and takes all the room
                return False
            count = "one field has" if len(wrong) == 1 else f"{len(wrong)} fields have"
            self._tell(f"Not done yet: {count} to be changed.", is_error=True)
        return not wrong

    def save(self) -> None:
        """Write the provider into config.json; where that is refused everything stays as it was typed."""
        if self._is_saving or self._trial is not None or not self._check():
            return
        self._is_saving = True
        write = self._main.providers.change if self._is_change else self._main.providers.save
        write(self.fields, self._saved)
        self.fill()

    def _saved(self, why_not: str) -> None:
        self._is_saving = False
        if not self.is_attached:
            return
        if why_not:
            self._names = self._other_names(self._first)
            self._tell(why_not, is_error=True)
        else:
            self.dismiss()

    def leave(self) -> None:
        """Stop a trial, else go back; what is written stays for the next time."""
        if self._trial is not None:
            self._stop_trial()
            return
        if self._is_change:
            if not self._is_saving and self.fields != self._first:
                self._main.say(f"{self._first.name} was not changed.")
        elif not self._is_saving and self.fields != self._first:
            own = [key for key, field in self._fields.items() if field.is_own]
            is_kept = not {"kind", "is_default"}.issuperset(own)
            self._main.providers.fields = self.fields if is_kept else None
            if is_kept:
                self._main.say(_KEPT)
        self.dismiss()


def _report_lines(report: ProviderReport) -> Iterator[str]:
    """Yield what came of a trial."""
    if report.problems:
        yield from (one_line(problem, 400) for problem in report.problems)
        return
    can = [
        words for words, is_so in (("streams", report.streams), ("calls tools", report.calls_tools)) if is_so
    ]
    models = len(report.models)
    listed = f"{models} model{'' if models == 1 else 's'} offered" if models else "no list of models"
    facts = ", ".join([*can, listed])
    yield f"It works: {one_line(report.model, 80)} answers, {facts}; {report.seconds:.1f} s."
    if report.context:
        yield f"Its context window is {report.context:,} tokens. f2 saves it."
    else:
        yield "f2 saves it."
