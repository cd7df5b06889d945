"""Which sessions pass `tool:` and `asked:` of a query, which only calls and actions can say.

Asks the journal through a function that is passed in, and never looks at the other keys.
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from workbench.views.library import INDEX_QUERY_KEYS, SearchQuery
from workbench.views.tools import tools_called

SessionsHaving = Callable[[Mapping[str, Sequence[str]], Sequence[str]], frozenset[str]]
"""Returns the sessions that have all of some tools and answers: `session_queries.sessions_with_facets`."""


class FacetFilter(Struct, frozen=True, kw_only=True):
    """The sessions that have every facet which is required, and those that have one which is excluded."""

    required: frozenset[str] | None
    """None: no facet is required."""
    excluded: frozenset[str]

    def __contains__(self, session_id: object) -> bool:
        return session_id not in self.excluded and (self.required is None or session_id in self.required)


def facet_filter(query: SearchQuery, sessions_having: SessionsHaving) -> FacetFilter | None:
    """Return the filter of a query by tools and answers; None where it names neither."""
    tools, answers = (query.narrowed.get(key, ()) for key in INDEX_QUERY_KEYS)
    other_tools, other_answers = (query.excluded.get(key, ()) for key in INDEX_QUERY_KEYS)
    if not (tools or answers or other_tools or other_answers):
        return None

    def having(tools: Sequence[str], answers: Sequence[str]) -> frozenset[str]:
        return sessions_having({word: tools_called(word) for word in tools}, answers)

    facets = [*(((tool,), ()) for tool in other_tools), *(((), (answer,)) for answer in other_answers)]
    return FacetFilter(
        required=having(tools, answers) if tools or answers else None,
        excluded=frozenset[str]().union(*(having(*facet) for facet in facets)),
    )
