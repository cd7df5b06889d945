"""Let the test modules here import `rows_cli`; each test gets its own home from the common conftest."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
