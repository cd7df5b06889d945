"""The lines of an environment that say where a shell is are no passwords; all that only looks like them is."""

import random

import pytest

from workbench.secrets.scrubber import scrub

HEADS = ("PWD=", "OLDPWD=", "export PWD=", 'declare -x OLDPWD="', "env PWD=", "  PWD='")
PARTS = "abcdefgXYZ0123456789_.-~@"


def folder(random_):
    parts = ("".join(random_.choices(PARTS, k=random_.randint(1, 12))) for _ in range(random_.randint(2, 6)))
    return "/" + "/".join(parts)


@pytest.mark.parametrize("seed", range(40))
def test_where_a_shell_is_stays_in_the_output_of_env(seed):
    random_ = random.Random(seed)
    head = HEADS[seed % len(HEADS)]
    line = head + folder(random_) + (head[-1] if head[-1] in "\"'" else "")
    text = f"HOME=/root\n{line}\r\nSHLVL=1\n{line}"
    assert scrub(text).text == text


@pytest.mark.parametrize("seed", range(60))
def test_other_names_values_and_places_stay_hidden(seed):
    random_ = random.Random(seed)
    path, secret = folder(random_), "hunter" + "".join(random_.choices("ABCabc0123456789", k=8)) + "-7q"
    for text, value in (
        (f"DB_PWD={path}/x9Zq", f"{path}/x9Zq"),
        (f"MYSQL_PWD={path}/x9Zq", f"{path}/x9Zq"),
        (f"pwd={secret}", secret),
        (f"PWD={secret}", secret),
        (f"OLDPWD={secret}", secret),
        (f"PWD=/{secret}", secret),
        (f"PWD={path}/x9+Zq==", "x9+Zq=="),
        (f"Server=h;UID=u;PWD=/{secret};", secret),
        (f"password={path}/x9Zq", f"{path}/x9Zq"),
        (f"pwd: {secret}", secret),
    ):
        assert value not in scrub(text).text, text


def test_a_key_in_the_name_of_a_folder_is_still_found():
    key = "ghp_" + "a1B2c3D4" * 5
    assert key not in scrub(f"PWD=/work/{key}/x").text
