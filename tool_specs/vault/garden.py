"""The notes of a vault if a scenario gives none: those of someone who has a garden."""

NOTES = {
    "Plants/Quince.md": "---\ntags: [tree, fruit]\n---\n# Quince\n\nIn the [[North bed]]. Flowers in April.\n",
    "Plants/Lovage.md": "---\ntags: [herb]\n---\n# Lovage\n\nTwo metres tall. Grows in the [[North bed]].\n",
    "Plants/Sorrel.md": "---\ntags: [herb]\n---\n# Sorrel\n\nSour leaves, half shade.\n",
    "Beds/North bed.md": "# North bed\n\nClay soil, shade until noon. #soil/clay\n",
    "Beds/South bed.md": "# South bed\n\nSand and sun. #soil/sand Beans after [[Sorrel]] next year.\n",
    "Diary/2029-02-18.md": "# 18 February\n\nPruned the [[Quince]]. #pruning\n",
    "Diary/2029-02-25.md": "# 25 February\n\nOrdered seeds, see [[Shopping]]. #seeds\n",
    "Plan 2029.md": "# Plan\n\n- [ ] Move [[Lovage]] to the [[South bed]]\n- [x] Sharpen the saw\n",
    "Shopping.md": "- Twine\n- Compost\n- Seed trays\n",
}
