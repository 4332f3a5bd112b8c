use serde_json::Value;

/// Lists every path of a schema that may have a value or a table. Tables of tables get entries under `names`.
pub fn schema_paths(schema: &Value, names: &[&str]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    add_paths(schema, names, &[], &mut found);
    found
}

fn add_paths(schema: &Value, names: &[&str], path: &[String], found: &mut Vec<Vec<String>>) {
    if !path.is_empty() {
        found.push(path.to_vec());
    }
    for choice in ["oneOf", "anyOf"].iter().filter_map(|key| schema[key].as_array()).flatten() {
        add_paths(choice, names, path, found);
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        add_paths(inner, names, &[path, std::slice::from_ref(name)].concat(), found);
    }
    if schema["additionalProperties"].is_object() {
        for name in names {
            add_paths(&schema["additionalProperties"], names, &[path, &[name.to_string()]].concat(), found);
        }
    }
}
