"""Identity signals: text in, variants out. One folder for each signal."""
