//! Footnotes: the same words once, with a number.

use super::types::{Footnote, Row};

/// What is to be said of a row: the words, and the arms they are about (an empty name: the row).
type RowNotes = Vec<(String, Vec<String>)>;

/// Numbers the notes of all rows in order of appearance and puts the numbers into the rows. A note
/// that concerns every row has no number. Words about some arms of a row only name them.
pub(super) fn number_notes(
    rows: &mut [Row],
    notes: Vec<RowNotes>,
    of_table: &[String],
) -> Vec<Footnote> {
    let worded: Vec<Vec<String>> = rows
        .iter()
        .zip(notes)
        .map(|(row, notes)| word_notes(row, notes))
        .collect();
    let everywhere = |text: &String| worded.len() > 1 && worded.iter().all(|w| w.contains(text));
    let mut common: Vec<String> = of_table.to_vec();
    let mut numbered: Vec<String> = Vec::new();
    for (row, texts) in rows.iter_mut().zip(&worded) {
        for text in texts {
            if everywhere(text) {
                if !common.contains(text) {
                    common.push(text.clone());
                }
                continue;
            }
            let place = numbered.iter().position(|t| t == text);
            let place = place.unwrap_or_else(|| {
                numbered.push(text.clone());
                numbered.len() - 1
            });
            row.notes.push(place + 1);
        }
    }
    let numbers = numbered
        .into_iter()
        .zip(1..)
        .map(|(text, number)| Footnote {
            number: Some(number),
            text,
        });
    let common = common
        .into_iter()
        .map(|text| Footnote { number: None, text });
    numbers.chain(common).collect()
}

fn word_notes(row: &Row, notes: RowNotes) -> Vec<String> {
    let mut texts = Vec::new();
    for (text, arms) in notes {
        let of_row = arms.iter().any(String::is_empty) || arms.len() >= row.entries.len();
        texts.push(if of_row {
            text
        } else {
            format!("{}: {text}", arms.join(", "))
        });
    }
    texts
}
