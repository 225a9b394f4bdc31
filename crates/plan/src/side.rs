//! One side of a claim as a plan writes it: levels, and a phase where phases are compared.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use toml::Spanned;

use super::factor::{Factor, Level, Levels};

/// The key of a side that names a phase.
pub(super) const PHASE: &str = "phase";

/// Levels, and the phase where phases are compared.
#[derive(Debug, Clone, Default, JsonSchema)]
pub struct WrittenSide {
    /// The phase.
    #[schemars(with = "Option<String>")]
    pub phase: Option<Spanned<String>>,
    /// The levels.
    #[schemars(flatten)]
    pub levels: Levels,
}

impl<'de> Deserialize<'de> for WrittenSide {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Table)
    }
}

struct Table;

impl<'de> Visitor<'de> for Table {
    type Value = WrittenSide;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of levels, or of a phase: { filesystem = \"ext4\" }")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<WrittenSide, A::Error> {
        let mut side = WrittenSide::default();
        while let Some(key) = table.next_key::<Key>()? {
            match key {
                Key::Phase => side.phase = Some(table.next_value()?),
                Key::Factor(factor) => {
                    let level = table.next_value::<Level>()?.to_string();
                    side.levels.0.insert(factor, level);
                }
            }
        }
        Ok(side)
    }
}

enum Key {
    Phase,
    Factor(Factor),
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match Factor::find(&name) {
            Some(factor) => Ok(Self::Factor(factor)),
            None if name == PHASE => Ok(Self::Phase),
            None => Err(D::Error::custom(format!(
                "unknown factor `{name}`, expected {}, or {PHASE}",
                Factor::instead_of(&name)
            ))),
        }
    }
}
