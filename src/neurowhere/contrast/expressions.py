"""Regular expressions of users: which of them a text could keep busy for ever."""

import re

SKIPPED = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<?[=!:>]?", re.S)  # escapes, sets, (?:
REPEAT = re.compile(r"[*+?]|\{(?P<least>\d*),?(?P<most>\d*)\}")
FEW = 8  # repeats, up to which nothing explodes


def is_explosive(pattern: str) -> bool:
    r"""Whether an expression repeats a group that can itself match in several ways.

    Such a group, as in ``(a+)+b``, is tried in a number of ways that doubles with every letter.

    >>> [is_explosive(text) for text in (r"(a+)+b", r"(a|aa)*b", r"(?:\bHD\b )+", r"(\d+,){2}x+")]
    [True, True, False, False]
    """
    several = [False]  # whether each open group can match in several ways, the outermost first
    place = 0
    while place < len(pattern):
        if skipped := SKIPPED.match(pattern, place):
            if skipped[0].startswith("("):
                several.append(False)
            place = skipped.end()
            continue
        letter, place = pattern[place], place + 1
        if letter == "(":
            several.append(False)
        elif letter == ")" and len(several) > 1:
            inner = several.pop()
            repeat = REPEAT.match(pattern, place)
            if inner and repeat and _is_many(repeat):
                return True
            several[-1] |= inner
        elif letter == "|" or (letter in "*+?{" and REPEAT.match(pattern, place - 1)):
            several[-1] = True
    return False


def _is_many(repeat: re.Match[str]) -> bool:
    if repeat[0] in "*+?":
        return repeat[0] != "?"
    most = repeat["most"] or ("" if "," in repeat[0] else repeat["least"])
    return not most or int(most[:9]) > FEW
