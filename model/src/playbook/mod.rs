//! Playbooks: YAML text to a resolved value, errors with line and column.
