"""Lowers the table of counts that must not grow to the current counts: `python -m tests.house`. It raises none."""

from __future__ import annotations

from tests.house.table import ROOT, TABLE, committed, lowered, write

before = committed() if TABLE.exists() else {}
after = lowered(before, ROOT)
write(after)
for name, count in after.items():
    print(f"{name}: {before.get(name, 'new')} -> {count}" if before.get(name) != count else f"{name}: {count}")
