"""Models of the papers: functions only, one file per paper, public names only."""
