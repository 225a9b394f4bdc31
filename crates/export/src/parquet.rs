//! Parquet: the samples in typed, nullable columns.

use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::column::writer::ColumnWriterImpl;
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{Type, TypePtr};

use super::{Cell, ColumnType, Samples};

/// Trials per row group, which is held in memory.
const GROUP: usize = 1_000;

/// Writes the samples as Parquet, with the same columns as CSV: text is unchanged UTF-8, integers
/// are unsigned 64-bit (as seeds require), values are doubles. Empty cells are null.
pub fn parquet(samples: &Samples<'_>, mut out: impl Write) -> io::Result<()> {
    let bytes = encoded(samples).map_err(io::Error::other)?;
    out.write_all(&bytes)
}

fn encoded(samples: &Samples<'_>) -> Result<Vec<u8>, ParquetError> {
    let properties = Arc::new(WriterProperties::default());
    let mut file = SerializedFileWriter::new(Vec::new(), schema(samples)?, properties)?;
    let kinds: Vec<ColumnType> = samples.columns().map(|(_, kind)| kind).collect();
    let mut trials = samples.trials().peekable();
    while trials.peek().is_some() {
        let group: Vec<(Vec<Cell<'_>>, Vec<[Cell<'_>; 4]>)> = trials
            .by_ref()
            .take(GROUP)
            .map(|trial| {
                let rows = trial.rows();
                (trial.cells, rows)
            })
            .collect();
        let mut writer = file.next_row_group()?;
        for (index, kind) in kinds.iter().enumerate() {
            let cells = group
                .iter()
                .flat_map(|(shared, rows)| rows.iter().map(move |row| cell(shared, row, index)));
            let mut column = writer.next_column()?.expect("as many columns as the schema has");
            match kind {
                ColumnType::Text => write(column.typed::<ByteArrayType>(), cells, text)?,
                ColumnType::Integer => write(column.typed::<Int64Type>(), cells, integer)?,
                ColumnType::Number => write(column.typed::<DoubleType>(), cells, number)?,
            }
            column.close()?;
        }
        writer.close()?;
    }
    file.into_inner()
}

/// The cell of a row in a column.
fn cell<'a>(shared: &'a [Cell<'_>], row: &'a [Cell<'_>], index: usize) -> &'a Cell<'a> {
    shared.get(index).unwrap_or_else(|| &row[index - shared.len()])
}

fn schema(samples: &Samples<'_>) -> Result<TypePtr, ParquetError> {
    let column = |(name, kind): (&str, ColumnType)| {
        let (physical, logical) = match kind {
            ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnType::Integer => (Physical::INT64, Some(LogicalType::integer(64, false))),
            ColumnType::Number => (Physical::DOUBLE, None),
        };
        let column = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        column.build().map(Arc::new)
    };
    let columns = samples.columns().map(column).collect::<Result<Vec<TypePtr>, _>>()?;
    Type::group_type_builder("samples").with_fields(columns).build().map(Arc::new)
}

/// Writes a column: its values, and for each row whether the value is present.
fn write<'a, T: DataType>(
    column: &mut ColumnWriterImpl<'_, T>,
    cells: impl Iterator<Item = &'a Cell<'a>>,
    value: fn(&Cell<'_>) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let mut values: Vec<T::T> = Vec::new();
    let mut present: Vec<i16> = Vec::new();
    // Cells shared by a trial's samples are converted once.
    let mut last: Option<(&Cell<'_>, Option<T::T>)> = None;
    for cell in cells {
        let known = last.as_ref().filter(|(known, _)| std::ptr::eq(*known, cell));
        let value = known.map_or_else(|| value(cell), |(_, value)| value.clone());
        present.push(value.is_some().into());
        values.extend(value.clone());
        last = Some((cell, value));
    }
    column.write_batch(&values, Some(&present), None).map(|_| ())
}

fn text(cell: &Cell<'_>) -> Option<ByteArray> {
    match cell {
        Cell::Text(text) => Some(ByteArray::from(text.as_ref())),
        _ => None,
    }
}

fn integer(cell: &Cell<'_>) -> Option<i64> {
    match cell {
        Cell::Integer(value) => Some(value.cast_signed()),
        _ => None,
    }
}

fn number(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Number(value) => Some(*value),
        _ => None,
    }
}
