"""Random changes to bytes, lines, words and JSON values."""

import copy
import json
import re

_WORD = re.compile(rb"[A-Za-z0-9_.-]+")
_LOOKED_AT = 1 << 16  # bytes of a file in which a word is changed: models have megabytes of numbers
WORDS = (
    *("", " ", "0", "-1", "-0", "1.5", "007", "1_000", "0x10", "nan", "inf", "-inf", "1e308", "1e-320", "1e999", "true", "null"),
    *(
        "2147483647",
        "2147483648",
        "-2147483649",
        "4294967296",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809",
    ),
    *(
        "18446744073709551616",
        "2000000000",
        "9" * 400,
        "9" * 5000,
        "1" + "0" * 309,
        "a",
        "A b",
        "=1+1",
        "\x1b[31m",
        "\x00",
        "\ufeff",
    ),
    *(
        "é",
        "٣",
        "²",
        "\U0001f600",
        "\u2028",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "<",
        ">",
        "&",
        "&#0;",
        "%s",
        "#",
        ",",
        ";",
        "\t",
        "\r",
        "\n",
    ),
    *("{}", "[]", "[" * 3000, "{'weight': 2}", "{'weight': [1]}", "2020-01-01", "None", "x" * 2000, "../../etc/passwd", "~nouser"),
)
DEEP = "<deep>"
VALUES = (
    *(None, True, False, 0, 1, -1, 2, 3, 1.5, -0.0, 1e308, 1e-320, 1e-300, 2**31 - 1, 2**31, 2**53, 2**62, 2**63 - 1, 2**63, 2**64),
    *(
        -(2**63),
        -(2**63) - 1,
        10**9,
        10**18,
        10**400,
        float("nan"),
        float("inf"),
        -float("inf"),
        "",
        "a",
        "0",
        "1",
        "abc",
        "\ud800",
    ),
    *(
        "é",
        "nan",
        "9" * 400,
        "x" * 5000,
        "\x00",
        "a\x00",
        [],
        {},
        [[]],
        [None],
        [1],
        [0, 1],
        [0, 1, 2],
        ["a"],
        {"a": 1},
        {"": None},
    ),
    *([[0, 1]], [1e308, 1e308], [True], [[0, 2**63]], [10**30] * 2, "reference", "fused", "cpu", "cuda", "symmetrise", "keep"),
)


def as_json(value, **options):
    """The value as JSON, in which `DEEP` stands for lists nested deeper than Python could write them."""
    return json.dumps(value, **options).replace(json.dumps(DEEP), "[" * 5000 + "]" * 5000)


def mutate_bytes(random, data):
    """A few random changes to the bytes, most of which keep the lines and words of a text."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        data = random.choice(_CHANGES)(random, data)
    return data


def _flip(random, data):
    if not data:
        return data
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << random.randrange(8))]) + data[place + 1 :]


def _cut(random, data):
    first, last = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:first] + data[last:] if random.random() < 0.5 else data[:last]


def _repeat(random, data):
    first, last = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return data[:last] + data[first:last] * random.choice((1, 2, 20)) + data[last:]


def _insert(random, data):
    place = random.randrange(len(data) + 1)
    noise = random.choice((random.randbytes(random.randrange(1, 9)), random.choice(WORDS).encode(errors="replace")))
    return data[:place] + noise + data[place:]


def _change_word(random, data):
    """Replace one run of letters and digits, which in a text format is a name or a number."""
    words = [found.span() for found in _WORD.finditer(data, 0, _LOOKED_AT)]
    if not words:
        return data
    first, last = random.choice(words)
    other = random.choice((random.choice(WORDS).encode(errors="replace"), data[slice(*random.choice(words))]))
    return data[:first] + other + data[last:]


def _change_lines(random, data):
    lines = data.split(b"\n")
    first, second = random.randrange(len(lines)), random.randrange(len(lines))
    change = random.randrange(4)
    if change == 0:
        del lines[first]
    elif change == 1:
        lines.insert(second, lines[first])
    elif change == 2:
        lines[first], lines[second] = lines[second], lines[first]
    else:
        lines[first] = b""
    return b"\n".join(lines)


_CHANGES = (_flip, _cut, _repeat, _insert, _change_word, _change_word, _change_word, _change_lines, _change_lines)


def mutate_value(random, value):
    """A JSON value with one to three of its parts replaced, removed, renamed, doubled or wrapped."""
    value = copy.deepcopy(value)
    for _ in range(random.choice((1, 1, 2, 3))):
        places = list(_places(value))
        if not places:
            return random.choice(VALUES)
        holder, key = random.choice(places)
        _change_place(random, holder, key)
    return value


def _change_place(random, holder, key):
    change = random.random()
    if change < 0.55:
        holder[key] = copy.deepcopy(random.choice(VALUES))
    elif change < 0.7:
        del holder[key]
    elif change < 0.8:
        holder[key] = [holder[key]]
    elif change < 0.83:
        holder[key] = DEEP
    elif isinstance(holder, list):
        holder.extend([copy.deepcopy(holder[key])] * random.choice((1, 2, 50)))
    else:
        holder[random.choice(("", "extra", key + "_", "hash", "format"))] = holder[key]


def _places(value):
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])
