"""All tools that agents have, in the order in which they are listed."""

from collections.abc import Mapping

from memory.tools.knowledge import forget_memory, memory_ingest, memory_list, memory_recall, memory_stats
from memory.tools.sessions import recall_session, session_search
from memory.tools.tool import Tool

TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        memory_ingest,
        memory_recall,
        memory_list,
        memory_stats,
        forget_memory,
        session_search,
        recall_session,
    )
}
