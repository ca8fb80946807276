"""The `neurowhere mcp` command: tools for assistants."""

from neurowhere.cli.options import ModelOption
from neurowhere.exceptions import MissingExtraError


def mcp(model: ModelOption = None) -> None:
    """Serve tools to an assistant over standard input and output (Model Context Protocol).

    The tools are encode, decode, term, contrast and check_sides. Nothing leaves this machine but
    what the assistant passes on. Give an assistant this command; it is not for a terminal.

    Example:

        neurowhere mcp
    """
    try:
        from neurowhere.web.mcp import make_tools
    except ModuleNotFoundError as error:
        raise MissingExtraError("mcp", "serving tools to an assistant") from error
    from neurowhere.model.store import load_model

    make_tools(load_model(model)).run()
