//! Reads the Phoronix Test Suite's `composite.xml`, written by `get_xml` in its
//! `pts_result_file.php`: a system is a treatment, a test is a phase, a number between the colons
//! of `RawString` is a trial. Graphs of readings, as of sensors (`MONITOR=`), are not results.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::Value;
use ssdlab_host::meter::environment::Environment;
use ssdlab_plan::MOUNT_TYPE;
use ssdlab_plan::metric::{Metric, PHORONIX_HIGHER, PHORONIX_LOWER};

use super::error::ImportFault;
use super::sample::{ImportedFile, ImportedSample, check_trials, phase};

const HELP: &str = "expected the composite.xml of a result folder of the Phoronix Test Suite";

/// The largest composite.xml of openbenchmarking.org have some 100,000 elements.
const MOST_NODES: u32 = 2_000_000;

/// The longest tag, in bytes: those of a composite.xml have no attributes.
const LONGEST_TAG: usize = 1 << 16;

/// The root element.
const ROOT: &str = "PhoronixTestSuite";

/// The length of the longest tag, from `<` to the next `>`, in bytes.
fn longest_tag(text: &str) -> usize {
    let tags = text.split('<').skip(1).filter(|tag| !tag.starts_with(['!', '?']));
    tags.map(|tag| tag.find('>').unwrap_or(tag.len())).max().unwrap_or(0)
}

pub(super) fn read(text: &str) -> Result<ImportedFile, ImportFault> {
    // The parser compares each attribute of an element with all others.
    if longest_tag(text) > LONGEST_TAG {
        let message = format!("it has a tag of more than {LONGEST_TAG} bytes");
        return Err(ImportFault::new(message, HELP));
    }
    // Without a DTD there are no entities, so none can grow.
    let options =
        ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..Default::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| ImportFault::new(format!("its XML cannot be read: {error}"), HELP))?;
    let root = document.root_element();
    if root.tag_name().name() != ROOT {
        let found = root.tag_name().name();
        return Err(ImportFault::new(format!("its root is `{found}`, expected `{ROOT}`"), HELP));
    }
    let mut systems = Systems::default();
    for node in elements(root, "System") {
        systems.add(System::of(node))?;
    }
    let mut notes = Vec::new();
    let mut tests = Vec::new();
    for node in elements(root, "Result") {
        match direction(node) {
            Ok(metric) => tests.push((node, metric)),
            Err(reason) => notes.push(format!("`{}` is skipped: {reason}", test_name(node))),
        }
    }
    let names = test_names(tests.iter().map(|(node, _)| *node).collect())?;
    let mut directions = Directions::default();
    for ((node, metric), name) in tests.into_iter().zip(names) {
        directions.count(metric, &name);
        for entry in entries(node) {
            read_entry(entry, &name, metric, &mut systems, &mut notes)?;
        }
    }
    let systems = systems.all;
    let is_in_order =
        systems.windows(2).all(|two| !two[0].stamp.is_empty() && two[0].stamp < two[1].stamp);
    let version = systems.iter().find_map(|system| system.client.clone());
    check_trials(systems.iter().map(System::trials).sum())?;
    let samples: Vec<ImportedSample> = systems.into_iter().flat_map(System::samples).collect();
    if samples.is_empty() {
        return Err(ImportFault::new("it has no numeric result, expected at least one", HELP));
    }
    let metric = directions.chosen(&mut notes);
    Ok(ImportedFile { program: "phoronix", version, metric, is_in_order, samples, notes })
}

/// The metric of a test, or why it has none.
fn direction(node: Node<'_, '_>) -> Result<Metric, String> {
    let metric = match text_of(node, "Proportion").as_str() {
        "HIB" => PHORONIX_HIGHER,
        "LIB" => PHORONIX_LOWER,
        other => return Err(format!("its proportion is `{other}`, neither HIB nor LIB")),
    };
    // LINE_GRAPH, FILLED_LINE_GRAPH and HORIZONTAL_BOX_PLOT list readings, PASS_FAIL has words.
    let format = text_of(node, "DisplayFormat");
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    let has_numbers = |entry| {
        let raw = text_of(entry, "RawString");
        text_of(entry, "Value")
            .split(':')
            .chain(raw.split(':'))
            .all(|text| text.is_empty() || is_number(text))
    };
    if !["", "BAR_GRAPH"].contains(&format.as_str()) && !entries(node).all(has_numbers) {
        return Err(format!("a {format} is not a number for each run"));
    }
    Ok(metric)
}

/// The names of tests. Those of one title and description have what else differs in their names.
fn test_names(nodes: Vec<Node<'_, '_>>) -> Result<Vec<String>, ImportFault> {
    const FURTHER: [&str; 3] = ["Arguments", "AppVersion", "Identifier"];
    let mut groups: BTreeMap<String, Vec<Node<'_, '_>>> = BTreeMap::new();
    for node in &nodes {
        groups.entry(test_name(*node)).or_default().push(*node);
    }
    let mut seen = BTreeSet::new();
    nodes
        .into_iter()
        .map(|node| {
            let name = test_name(node);
            let group = &groups[&name];
            let differs = |element: &&'static str| {
                group.iter().any(|other| text_of(*other, element) != text_of(node, element))
            };
            let further: Vec<String> = FURTHER
                .iter()
                .filter(|element| differs(element))
                .map(|element| text_of(node, element))
                .collect();
            let full =
                if further.is_empty() { name } else { format!("{name} [{}]", further.join(", ")) };
            if seen.insert(full.clone()) {
                return Ok(full);
            }
            Err(ImportFault::new(
                format!("two tests are called `{full}`"),
                "remove one: phoronix-test-suite remove-result-from-result-file",
            ))
        })
        .collect()
}

fn entries<'a, 'input: 'a>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    elements(node, "Data").flat_map(|data| elements(data, "Entry"))
}

/// The tests by direction; a table can show only one.
#[derive(Default)]
struct Directions {
    higher: Vec<String>,
    lower: Vec<String>,
}

impl Directions {
    fn count(&mut self, metric: Metric, name: &str) {
        let side = if metric == PHORONIX_HIGHER { &mut self.higher } else { &mut self.lower };
        side.push(name.to_owned());
    }

    fn chosen(self, notes: &mut Vec<String>) -> Metric {
        let (metric, others, other) = if self.higher.len() < self.lower.len() {
            (PHORONIX_LOWER, self.higher, PHORONIX_HIGHER)
        } else {
            (PHORONIX_HIGHER, self.lower, PHORONIX_LOWER)
        };
        if !others.is_empty() {
            notes.push(format!(
                "not in the table, because for them {}: {}",
                if other == PHORONIX_LOWER { "less is better" } else { "more is better" },
                others.join("; ")
            ));
        }
        metric
    }
}

/// The systems, in the order of the file, and their indices by name.
#[derive(Default)]
struct Systems {
    all: Vec<System>,
    at: BTreeMap<String, usize>,
}

impl Systems {
    fn add(&mut self, system: System) -> Result<(), ImportFault> {
        if self.at.insert(system.name.clone(), self.all.len()).is_some() {
            return Err(ImportFault::new(
                format!("two systems are called `{}`", system.name),
                "rename one: phoronix-test-suite rename-identifier-in-result-file",
            ));
        }
        self.all.push(system);
        Ok(())
    }

    /// The system of this name, which the file need not describe.
    fn named(&mut self, name: &str) -> &mut System {
        let index = self.at.get(name).copied().unwrap_or_else(|| {
            self.at.insert(name.to_owned(), self.all.len());
            self.all.push(System { name: name.to_owned(), ..System::default() });
            self.all.len() - 1
        });
        &mut self.all[index]
    }
}

/// A system, and the values of each of its tests.
#[derive(Default)]
struct System {
    name: String,
    stamp: String,
    client: Option<String>,
    environment: Environment,
    applied: BTreeMap<String, String>,
    tests: Vec<(String, Metric, Vec<f64>)>,
}

impl System {
    fn of(node: Node<'_, '_>) -> Self {
        let hardware = pairs(&text_of(node, "Hardware"));
        let software = pairs(&text_of(node, "Software"));
        let get = |pairs: &[(String, String)], key: &str| {
            pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
        };
        let client = Some(text_of(node, "TestClientVersion")).filter(|text| !text.is_empty());
        let environment = Environment {
            kernel: get(&software, "Kernel").unwrap_or_default(),
            cpu: get(&hardware, "Processor").unwrap_or_default(),
            memory_bytes: get(&hardware, "Memory")
                .and_then(|text| memory_bytes(&text))
                .unwrap_or(0),
            distribution: get(&software, "OS").unwrap_or_default(),
            drive_model: get(&hardware, "Disk"),
            tools: client.iter().map(|version| format!("phoronix-test-suite {version}")).collect(),
            ..Environment::default()
        };
        let json: Value = serde_json::from_str(&text_of(node, "JSON")).unwrap_or_default();
        let in_json = |key: &str| json[key].as_str().map(str::to_owned);
        let stamp = text_of(node, "TimeStamp");
        let said =
            |element: &'static str| Some(text_of(node, element)).filter(|text| !text.is_empty());
        let applied = [
            (MOUNT_TYPE, get(&software, "File-System")),
            ("mount_options", in_json("disk-mount-options")),
            ("scheduler", in_json("disk-scheduler").map(|name| name.to_lowercase())),
            ("hardware", said("Hardware")),
            ("software", said("Software")),
            ("notes", said("Notes")),
            // In that machine's time zone, which the file does not name.
            ("time", said("TimeStamp")),
        ];
        Self {
            name: text_of(node, "Identifier"),
            stamp,
            client,
            environment,
            applied: applied
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value?)))
                .collect(),
            tests: Vec::new(),
        }
    }

    fn trials(&self) -> usize {
        self.tests.iter().map(|(_, _, values)| values.len()).max().unwrap_or(0)
    }

    /// A sample of the nth values of all tests, for each n.
    fn samples(self) -> Vec<ImportedSample> {
        let nth = |index: usize| {
            let measured = self.tests.iter().filter_map(|(name, metric, values)| {
                let value = values.get(index)?;
                Some(phase(name, [(*metric, *value)].into()))
            });
            ImportedSample {
                name: Some(self.name.clone()).filter(|name| !name.is_empty()),
                environment: self.environment.clone(),
                applied: self.applied.clone(),
                phases: measured.collect(),
                ..ImportedSample::default()
            }
        };
        (0..self.trials()).map(nth).collect()
    }
}

fn read_entry(
    entry: Node<'_, '_>,
    test: &str,
    metric: Metric,
    systems: &mut Systems,
    notes: &mut Vec<String>,
) -> Result<(), ImportFault> {
    let system = text_of(entry, "Identifier");
    let (value, raw) = (text_of(entry, "Value"), text_of(entry, "RawString"));
    // The values of all runs, if they were kept; otherwise their mean.
    let words = if raw.is_empty() { &value } else { &raw };
    if words.is_empty() {
        notes.push(format!("`{system}` has no result of `{test}`"));
        return Ok(());
    }
    let number = |word: &str| {
        let number = word.trim().parse().ok().filter(|value: &f64| value.is_finite());
        number.ok_or_else(|| {
            let says = format!("`{test}` of `{system}`: \"{}\" is not a number", word.trim());
            ImportFault::new(says, "remove a test without numbers from the file")
        })
    };
    let words = words.split(':').filter(|word| !word.trim().is_empty());
    let values = words.map(number).collect::<Result<Vec<f64>, ImportFault>>()?;
    // Results are compared by their ratio.
    if let Some(value) = values.iter().find(|value| **value < 0.0) {
        notes.push(format!("`{test}` of `{system}` is skipped: {value} is below 0"));
        return Ok(());
    }
    let tests = &mut systems.named(&system).tests;
    // Tests are read one by one.
    if tests.last().is_some_and(|(known, ..)| known == test) {
        return Err(ImportFault::new(format!("`{test}` has two results of `{system}`"), HELP));
    }
    tests.push((test.to_owned(), metric, values));
    Ok(())
}

/// A test's title, arguments and unit: one program often has several tests.
fn test_name(node: Node<'_, '_>) -> String {
    let mut name = text_of(node, "Title");
    let (arguments, unit) = (text_of(node, "Description"), text_of(node, "Scale"));
    if !arguments.is_empty() {
        name = format!("{name}: {arguments}");
    }
    if unit.is_empty() { name } else { format!("{name} ({unit})") }
}

fn elements<'a, 'input: 'a>(
    node: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

fn text_of(node: Node<'_, '_>, name: &'static str) -> String {
    let text = elements(node, name).next().and_then(|child| child.text());
    text.unwrap_or_default().trim().to_owned()
}

/// `Processor: ..., Memory: ...`; a comma within a value is kept.
fn pairs(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for part in text.split(", ") {
        match (part.split_once(": "), pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key.trim().to_owned(), value.trim().to_owned())),
            (None, Some((_, value))) => *value = format!("{value}, {part}"),
            (None, None) => {}
        }
    }
    pairs
}

/// `16GB`, `2 x 8 GB DDR4-3200MT/s`, `8192MB`: in binary units, as memory is sold.
fn memory_bytes(text: &str) -> Option<u64> {
    let (times, rest) = match text.split_once(" x ") {
        Some((times, rest)) => (times.trim().parse::<u64>().ok()?, rest.trim()),
        None => (1, text.trim()),
    };
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let shift = match rest[digits..].trim_start().get(..2)? {
        "MB" => 20,
        "GB" => 30,
        "TB" => 40,
        _ => return None,
    };
    rest[..digits].parse::<u64>().ok()?.checked_mul(1 << shift)?.checked_mul(times)
}

#[cfg(test)]
mod tests;
