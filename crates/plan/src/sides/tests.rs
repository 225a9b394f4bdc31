use std::path::Path;

use miette::Diagnostic;

use crate::{LabKind, Overrides, schedule, shipped};

/// A plan of two factors and a baseline of one of them.
fn checked(claim: &str) -> Result<Vec<String>, String> {
    let text = format!(
        r#"
        name = "two"
        question = "?"
        [factors]
        filesystem = ["ext4", "btrfs"]
        drive = ["x25m-g1", "vertex-le"]
        [[exclude]]
        filesystem = "btrfs"
        drive = "vertex-le"
        [baseline]
        filesystem = "ext4"
        [workload]
        phases = [{{ do = "unpack" }}]
        [[claims]]
        id = "c"
        says = "?"
        phases = ["unpack"]
        at_least = 2
        {claim}
        "#
    );
    let schedule = schedule("p.toml", &text, &Overrides::default(), Path::new("/"));
    let says = |error: &dyn Diagnostic| format!("{error}; {}", error.help().unwrap());
    let schedule = schedule.map_err(|error| says(&error))?;
    let levels = |treatment: usize| schedule.treatments[treatment].levels.to_string();
    let pairs = schedule.claims[0].pairs(&schedule);
    Ok(pairs
        .into_iter()
        .map(|(one, other)| match other {
            Some(other) => format!("{} / {}", levels(one), levels(other)),
            None => levels(one),
        })
        .collect())
}

fn refused(claim: &str, expected: &[&str]) {
    let said = checked(claim).expect_err(claim);
    for part in expected {
        assert!(said.contains(part), "{claim}\n{part}\n{said}");
    }
}

/// Before, ext4 on one drive was compared with itself, and btrfs with ext4.
#[test]
fn a_side_that_nobody_names_is_refused_with_what_to_write() {
    refused(
        "compare = { drive = \"vertex-le\" }",
        &[
            "nothing says what drive = \"vertex-le\" is compared with",
            "against = { drive = \"x25m-g1\" }",
        ],
    );
    refused(
        "compare = { filesystem = \"btrfs\", drive = \"vertex-le\" }",
        &["against = { filesystem = \"ext4\", drive = \"x25m-g1\" }"],
    );
    refused(
        "compare = { drive = \"vertex-le\" }\n\
         against = { drive = \"x25m-g1\", filesystem = \"ext4\" }",
        &["`against` names `filesystem` and `compare` does not"],
    );
}

#[test]
fn a_pair_shares_what_is_not_compared() {
    assert_eq!(
        checked("compare = { drive = \"vertex-le\" }\nagainst = { drive = \"x25m-g1\" }"),
        Ok(vec![
            "filesystem = ext4, drive = vertex-le / filesystem = ext4, drive = x25m-g1".to_owned()
        ])
    );
    // On the other drive btrfs is excluded: nothing else takes its place.
    assert_eq!(
        checked("compare = { filesystem = \"btrfs\" }"),
        Ok(vec![
            "filesystem = btrfs, drive = x25m-g1 / filesystem = ext4, drive = x25m-g1".to_owned()
        ])
    );
    // Levels given for both sides limit the claim.
    assert_eq!(
        checked(
            "compare = { filesystem = \"ext4\", drive = \"vertex-le\" }\n\
             against = { filesystem = \"ext4\", drive = \"x25m-g1\" }"
        ),
        checked("compare = { drive = \"vertex-le\" }\nagainst = { drive = \"x25m-g1\" }"),
    );
}

#[test]
fn a_claim_that_no_treatments_can_decide_is_refused() {
    refused(
        "compare = { filesystem = \"btrfs\" }\nwhere = { drive = \"vertex-le\" }",
        &["no treatment has filesystem = btrfs", "where drive = vertex-le", "`exclude` drops such"],
    );
    refused(
        "compare = { filesystem = \"btrfs\" }\nwhere = { filesystem = \"ext4\" }",
        &["`where` limits it to filesystem = \"ext4\""],
    );
    // Also where both sides share the level.
    refused(
        "compare = { filesystem = \"btrfs\", drive = \"vertex-le\" }\n\
         against = { filesystem = \"btrfs\", drive = \"x25m-g1\" }\n\
         where = { filesystem = \"ext4\" }",
        &["compares filesystem = \"btrfs\", but `where` limits it to filesystem = \"ext4\""],
    );
    refused(
        "compare = { filesystem = \"btrfs\" }\nexcess_over = { filesystem = \"ext4\" }",
        &["`excess_over` names `filesystem`, in which the sides differ"],
    );
}

/// In every lab, also where another lab's levels are dropped.
#[test]
fn the_shipped_plans_say_what_they_compare() {
    for lab in [LabKind::Virtual, LabKind::Image] {
        for plan in shipped::ALL {
            let overrides = Overrides { lab: Some(lab), ..Overrides::default() };
            let resolved = schedule(plan.name, plan.text, &overrides, Path::new("/"));
            let simulated = ["wear", "fsync", "power-loss", "etcd", "sqlite", "raspberry"];
            let is_of_simulated_drives = simulated.contains(&plan.name);
            assert!(resolved.is_ok() || is_of_simulated_drives, "{}: {resolved:?}", plan.name);
        }
    }
}
