"""PC, GES and GSF, whose answer is an equivalence class."""
