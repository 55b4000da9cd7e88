//! How the language is stated: maps with their keys, and what each key takes. The checker, the JSON
//! Schema and the reference are all drawn from these values, so they cannot disagree.

/// What a value has to look like.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// Any text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `on` or `off`.
    Switch,
    /// A whole number between two bounds, both in.
    Count(u64, u64),
    /// A number between two bounds, both in.
    Number(f64, f64),
    /// A phrase with a grammar of its own.
    Phrase(&'static Phrase),
    /// A list; one item alone stands for a list of it.
    List(&'static Shape),
    /// A map with known keys.
    Map(&'static MapDef),
    /// A map whose keys are names of the reader's choice.
    Names(&'static NamesDef),
    /// A scalar of the first shape, or a map or list of the second.
    Either(&'static Shape, &'static Shape),
    /// A workload entry: [`super::keys::ENTRY`] and one key that names a workload.
    Workload,
    /// Parameters of a workload, matrix values: checked against the catalogue.
    Open,
}

/// A phrase: how it is described, matched in an editor, and read.
#[derive(Debug)]
pub(super) struct Phrase {
    /// What would be right.
    pub expected: &'static str,
    /// A regular expression for editors, less strict than `check`.
    pub pattern: &'static str,
    /// Reads it; the error says what would be right.
    pub check: fn(&str) -> Result<(), String>,
}

/// A map with known keys.
#[derive(Debug)]
pub(super) struct MapDef {
    /// What the map is called in messages and headings.
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its keys.
    pub keys: &'static [KeyDef],
}

impl MapDef {
    /// The key of this name.
    pub(super) fn key(&self, name: &str) -> Option<&'static KeyDef> {
        self.keys.iter().find(|k| k.name == name)
    }
}

/// A map whose keys are names.
#[derive(Debug)]
pub(super) struct NamesDef {
    /// What the names are names of.
    pub of: &'static str,
    /// What each takes.
    pub shape: Shape,
    /// Whether dots belong into the names (sysctls).
    pub dotted: bool,
}

/// A key of a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyDef {
    /// The key.
    pub name: &'static str,
    /// What it takes.
    pub shape: Shape,
    /// The default, as it would be written.
    pub default: Option<&'static str>,
    /// Whether it must be there.
    pub required: bool,
    /// What it does.
    pub doc: &'static str,
}

/// An optional key without a default.
pub(super) const fn key(name: &'static str, shape: Shape, doc: &'static str) -> KeyDef {
    KeyDef {
        name,
        shape,
        default: None,
        required: false,
        doc,
    }
}

impl KeyDef {
    /// With a default.
    #[must_use]
    pub(super) const fn default(mut self, value: &'static str) -> Self {
        self.default = Some(value);
        self
    }

    /// Must be there.
    #[must_use]
    pub(super) const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

impl Shape {
    /// What would be right, in words.
    pub(super) fn expected(&self) -> String {
        match self {
            Shape::Text => "text".into(),
            Shape::Word(words) => one_of(words),
            Shape::Switch => "`on` or `off`".into(),
            Shape::Count(min, max) if *max >= u64::from(u32::MAX) => {
                format!("a whole number from {min}")
            }
            Shape::Count(min, max) => format!("a whole number from {min} to {max}"),
            Shape::Number(min, max) => format!("a number from {min} to {max}"),
            Shape::Phrase(phrase) => phrase.expected.into(),
            Shape::List(item) => format!("a list of: {}", item.expected()),
            Shape::Map(def) => format!(
                "a map with the keys {}",
                one_of(&def.keys.iter().map(|k| k.name).collect::<Vec<_>>())
            ),
            Shape::Names(def) => format!("a map of {}", def.of),
            Shape::Either(a, b) => format!("{}, or {}", a.expected(), b.expected()),
            Shape::Workload => "a map with the name of a workload as its key".into(),
            Shape::Open => "a map of parameters".into(),
        }
    }
}

/// `a`, `b`, `c`.
pub(super) fn one_of<S: AsRef<str>>(words: &[S]) -> String {
    words
        .iter()
        .map(|w| format!("`{}`", w.as_ref()))
        .collect::<Vec<_>>()
        .join(", ")
}
