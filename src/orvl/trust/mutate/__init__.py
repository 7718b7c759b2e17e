"""How controls are derived from an eval's good files: syntax trees, planted bugs, patches, new names, pictures."""
