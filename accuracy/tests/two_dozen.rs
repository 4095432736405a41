//! Two dozen fixed cases, which every change has to get right: none is of a held-out family.

use observer_accuracy::{Cache, Harm, Named, Score, by_case, some_cases};
use rayon::prelude::*;

#[test]
fn advice_does_no_harm_and_causes_are_found() {
    let cache = Cache::without_gains();
    let scores: Vec<_> =
        some_cases().into_par_iter().map(|(family, seed)| Score::of(family, seed, &cache).unwrap()).collect();
    assert_eq!(scores.len(), 24);
    let count = |is: fn(&Score) -> bool| scores.iter().filter(|score| is(score)).count();
    let failed = by_case(&scores);
    assert_eq!(count(|score| score.harm() != Harm::None), 0, "{failed}");
    assert_eq!(count(|score| score.named() == Named::Abstained), 0, "{failed}");
    assert_eq!(count(|score| score.named() == Named::Wrong), 0, "{failed}");
}
