//! Generates the schemas of configurations from the types in `spec`.

use hostnet_params::{ChipSpec, ClusterSpec, MemoryRunSpec, NocRunSpec, Spec};
use schemars::generate::SchemaSettings;
use schemars::JsonSchema;
use serde_json::{json, Value};
use std::sync::OnceLock;

/// Returns the schema of a complete configuration of a server.
pub(crate) fn complete() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut schema = generate::<Spec>();
        // A server needs cores and drives, but one of several sockets may have memory only.
        let of_socket = &mut schema["properties"]["socket"]["additionalProperties"]["properties"];
        for table in ["core", "ssd"] {
            of_socket[table]["properties"]["count"]["minimum"] = json!(0);
        }
        schema
    })
}

/// Returns the schema of a complete configuration of the memory alone.
pub(crate) fn complete_memory() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(generate::<MemoryRunSpec>)
}

/// Returns the schema of a complete configuration of the network on a chip alone.
pub(crate) fn complete_noc() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(generate::<NocRunSpec>)
}

/// Returns the schema of a complete configuration of a chip.
pub(crate) fn complete_chip() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(generate::<ChipSpec>)
}

/// Returns the JSON Schema of configurations that users write for a chip, analogous to [`schema`].
pub fn chip_schema() -> Value {
    let mut schema = complete_chip().clone();
    schema["title"] = json!("hostnet chip configuration");
    drop_required(&mut schema, "");
    schema
}

/// Returns the schema of a complete configuration of a cluster. It requires no table of a server, because presets
/// give them.
pub(crate) fn complete_cluster() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let mut schema = generate::<ClusterSpec>();
        let mut server = complete().clone();
        drop_required(&mut server, "");
        let host = &mut schema["properties"]["host"]["additionalProperties"];
        for (key, value) in server["properties"].as_object().into_iter().flatten() {
            // A host names its preset by a key of its own, and all hosts share the `run` of the cluster.
            if !["server", "run"].contains(&key.as_str()) {
                host["properties"][key] = value.clone();
            }
        }
        host["additionalProperties"] = json!(false);
        schema
    })
}

/// Returns the JSON Schema of configurations that users write for a cluster, analogous to [`schema`].
pub fn cluster_schema() -> Value {
    let mut schema = complete_cluster().clone();
    schema["title"] = json!("hostnet cluster configuration");
    schema
}

/// Returns the JSON Schema of configurations that users write for a server.
///
/// Every key has a description. `x-quantity` names the dimension of a value with a unit, `x-min` and `x-max` give its
/// range, and `x-words` lists words that may replace the value. No key of the server is required, because a preset
/// gives all of them.
///
/// Every key has a description; `x-quantity` names the dimension of a value with a unit, `x-min` and `x-max` its range,
/// `x-words` words allowed in its place. Nothing of the server is required, because a preset gives it.
pub fn schema() -> Value {
    let mut schema = complete().clone();
    schema["title"] = json!("hostnet configuration");
    drop_required(&mut schema, "");
    schema
}

/// Returns the JSON Schema of configurations that users write for the memory alone, analogous to [`schema`].
pub fn memory_schema() -> Value {
    let mut schema = complete_memory().clone();
    schema["title"] = json!("hostnet memory configuration");
    drop_required(&mut schema, "");
    schema
}

/// Returns the JSON Schema of configurations that users write for the network on a chip alone, analogous to
/// [`schema`].
pub fn noc_schema() -> Value {
    let mut schema = complete_noc().clone();
    schema["title"] = json!("hostnet noc configuration");
    drop_required(&mut schema, "");
    schema
}

fn generate<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    // `check` walks the schema without resolving references.
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    drop_null(&mut schema);
    schema
}

/// Removes `null` from the allowed values: an optional value is left out, never `null`.
fn drop_null(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    map.insert("type".to_string(), only);
                }
            }
            if let Some(Value::Array(choices)) = map.get_mut("anyOf") {
                choices.retain(|choice| choice["type"] != "null");
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    map.remove("anyOf");
                    only.into_iter().for_each(|(key, value)| {
                        map.entry(key).or_insert(value);
                    });
                }
            }
            map.values_mut().for_each(drop_null);
        }
        Value::Array(list) => list.iter_mut().for_each(drop_null),
        _ => {}
    }
}

/// Tables with user-chosen names, and values with alternatives, that a preset or a profile may complete.
const NAMED_BELOW: [&str; 2] = ["socket", "cstate"];
const CHOICES_BELOW: [&str; 2] = ["pstates", "governor"];

fn drop_required(schema: &mut Value, name: &str) {
    // No preset completes a workload, so its required keys stay required.
    if name == "workload" {
        return;
    }
    if let Value::Object(map) = schema {
        map.remove("required");
        if let Some(named) = map.get_mut("additionalProperties").filter(|_| NAMED_BELOW.contains(&name)) {
            drop_required(named, "");
        }
        if let Some(Value::Array(choices)) = map.get_mut("anyOf").filter(|_| CHOICES_BELOW.contains(&name)) {
            choices.iter_mut().for_each(|choice| drop_required(choice, ""));
        }
        if let Some(Value::Object(properties)) = map.get_mut("properties") {
            properties.iter_mut().for_each(|(name, schema)| drop_required(schema, name));
        }
    }
}
