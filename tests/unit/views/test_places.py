"""Where the words that were looked for stand in an event's line."""

from tests.support.tables import each_row
from tests.unit.views.making import event
from workbench.domain.events import PromptSubmitted
from workbench.views import library


@each_row(
    ("text", "typed", "marked"),
    [
        ("rename createRequestHandler now", "request", ["Request"]),
        ("rename createRequestHandler now", "requesthand", ["RequestHand"]),
        ("see HTTPErrorPage and error", "error", ["Error", "error"]),
        ("a snake_case_name", "case", ["case"]),
        ("the showcase", "case", ["case"]),
        ("the showcase of a case", "case", ["case"]),
        ("the showcase", '"case"', []),
        ("utf8 and UTF8", "utf", ["utf", "UTF"]),
        ("ls -la later", "-la", ["-la"]),
    ],
)
def test_words_are_marked_where_they_begin(text, typed, marked):
    found = library.search_hit(event(PromptSubmitted(text=text)), library.parse_query(typed).terms)
    assert [found.text[start:end] for start, end in found.hits] == marked
