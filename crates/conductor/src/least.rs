//! A smallest list of what is needed, found by leaving out parts of it, as in delta debugging (A.
//! Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE Transactions
//! on Software Engineering 28, 2002): halves first, single things last.

/// Leaves out what can be left out: of the result nothing can, if `most` questions were enough.
/// `is_enough` says whether a list is; if the whole one is not, the result is the whole one.
pub(super) fn least<T: Clone, E>(
    mut needed: Vec<T>,
    most: usize,
    mut is_enough: impl FnMut(&[T]) -> Result<bool, E>,
) -> Result<Vec<T>, E> {
    if !is_enough(&needed)? {
        return Ok(needed);
    }
    let mut asked = 1;
    let mut length = needed.len();
    while length > 0 {
        let mut at = 0;
        while at < needed.len() && asked < most {
            let end = (at + length).min(needed.len());
            let others = [&needed[..at], &needed[end..]].concat();
            asked += 1;
            if is_enough(&others)? {
                needed = others;
            } else {
                at = end;
            }
        }
        length /= 2;
    }
    Ok(needed)
}

#[cfg(test)]
mod tests;
