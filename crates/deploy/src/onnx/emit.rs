//! Writing a graph node by node.

use std::fmt::Write as _;

use intervalid_model::Precision;

use super::proto::{
    AttributeProto, DOUBLE, Dimension, FLOAT, GRAPH, GraphProto, INT, INT64, NodeProto, Size, TensorProto,
    TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto,
};

/// The name of a tensor in a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value(String);

/// A size of a tensor that goes in or out: fixed, or the same for all that share the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dim {
    Fixed(usize),
    Named(&'static str),
}

/// An input or output of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Port {
    pub(super) name: String,
    pub(super) dims: Vec<Dim>,
    /// What it holds.
    pub(super) doc: String,
}

impl Port {
    pub(super) fn value(&self) -> Value {
        Value(self.name.clone())
    }
}

/// A graph that grows; constants stand outside of the bodies of loops, which all see them.
#[derive(Debug)]
pub(super) struct Emitter {
    precision: Precision,
    nodes: Vec<NodeProto>,
    constants: Vec<TensorProto>,
    count: usize,
    /// The first constant that single precision cannot hold.
    beyond: Option<(String, f64)>,
}

impl Emitter {
    pub(super) fn new(precision: Precision) -> Self {
        Self {
            precision,
            nodes: Vec::new(),
            constants: Vec::new(),
            count: 0,
            beyond: None,
        }
    }

    /// What single precision could not hold, if anything.
    pub(super) fn beyond(&self) -> Option<(String, f64)> {
        self.beyond.clone()
    }

    fn element(&self) -> i32 {
        match self.precision {
            Precision::F32 => FLOAT,
            Precision::F64 => DOUBLE,
        }
    }

    /// What is left of a number in the precision of the graph.
    pub(super) fn rounded(&self, value: f64) -> f64 {
        match self.precision {
            #[expect(clippy::cast_possible_truncation, reason = "that is what is asked")]
            Precision::F32 => f64::from(value as f32),
            Precision::F64 => value,
        }
    }

    /// A constant; one of that name that is there already is used again.
    pub(super) fn real(&mut self, name: &str, dims: &[usize], values: impl IntoIterator<Item = f64>) -> Value {
        if !self.has_constant(name) {
            let values: Vec<f64> = values.into_iter().collect();
            debug_assert_eq!(values.len(), dims.iter().product::<usize>(), "{name}");
            let lost = |value: &&f64| value.is_finite() && !self.rounded(**value).is_finite();
            if let Some(&value) = values.iter().find(lost) {
                self.beyond.get_or_insert((name.to_owned(), value));
            }
            let bytes = match self.precision {
                #[expect(clippy::cast_possible_truncation, reason = "the graph is of single precision")]
                Precision::F32 => values.iter().flat_map(|&value| (value as f32).to_le_bytes()).collect(),
                Precision::F64 => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            };
            self.constant(name, dims, self.element(), bytes);
        }
        Value(name.to_owned())
    }

    /// Divisors: as [`real`](Self::real), and none may round to zero.
    pub(super) fn divisors(&mut self, name: &str, values: &[f64]) -> Value {
        let lost = |value: &&f64| !self.rounded(1.0 / self.rounded(**value)).is_finite();
        if let Some(&value) = values.iter().find(lost) {
            self.beyond.get_or_insert((name.to_owned(), value));
        }
        self.real(name, &[values.len()], values.iter().copied())
    }

    pub(super) fn scalar(&mut self, name: &str, value: f64) -> Value {
        self.real(name, &[], [value])
    }

    /// The largest number of the graph's precision.
    pub(super) fn largest(&mut self) -> Value {
        self.scalar(
            "largest",
            match self.precision {
                Precision::F32 => f32::MAX.into(),
                Precision::F64 => f64::MAX,
            },
        )
    }

    fn has_constant(&self, name: &str) -> bool {
        self.constants
            .iter()
            .any(|constant| constant.name.as_deref() == Some(name))
    }

    fn integers(&mut self, values: &[i64]) -> Value {
        let mut name = "integers".to_owned();
        for value in values {
            let _ = write!(name, "_{value}");
        }
        if !self.has_constant(&name) {
            let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            self.constant(&name, &[values.len()], INT64, bytes);
        }
        Value(name)
    }

    fn constant(&mut self, name: &str, dims: &[usize], element: i32, bytes: Vec<u8>) {
        self.constants.push(TensorProto {
            dims: dims.iter().map(|&size| integer(size)).collect(),
            data_type: Some(element),
            name: Some(name.to_owned()),
            raw_data: Some(bytes),
        });
    }

    fn fresh(&mut self, operator: &str) -> String {
        self.count += 1;
        format!("{operator}_{}", self.count)
    }

    fn node(&mut self, operator: &str, inputs: &[&Value], attributes: Vec<AttributeProto>) -> Value {
        let name = self.fresh(operator);
        self.push(operator, name.clone(), inputs, vec![name.clone()], attributes);
        Value(name)
    }

    fn push(
        &mut self,
        operator: &str,
        name: String,
        inputs: &[&Value],
        output: Vec<String>,
        attribute: Vec<AttributeProto>,
    ) {
        self.nodes.push(NodeProto {
            input: inputs.iter().map(|value| value.0.clone()).collect(),
            output,
            name: Some(name),
            op_type: Some(operator.to_owned()),
            attribute,
        });
    }

    /// An operator without settings, elementwise or a product of matrices.
    pub(super) fn apply(&mut self, operator: &str, inputs: &[&Value]) -> Value {
        self.node(operator, inputs, Vec::new())
    }

    /// Sums over one axis, which stays with size 1.
    pub(super) fn sum(&mut self, value: &Value, axis: usize) -> Value {
        let axes = self.integers(&[integer(axis)]);
        self.node("ReduceSum", &[value, &axes], vec![int_attribute("keepdims", 1)])
    }

    pub(super) fn concat(&mut self, values: &[&Value], axis: usize) -> Value {
        match values {
            [only] => (*only).clone(),
            _ => self.node("Concat", values, vec![int_attribute("axis", integer(axis))]),
        }
    }

    pub(super) fn slice(&mut self, value: &Value, axis: usize, range: std::ops::Range<usize>) -> Value {
        self.slice_between(value, axis, integer(range.start), integer(range.end))
    }

    /// The last `count` ≥ 1 rows.
    pub(super) fn last_rows(&mut self, value: &Value, count: usize) -> Value {
        self.slice_between(value, 0, -integer(count), i64::MAX)
    }

    fn slice_between(&mut self, value: &Value, axis: usize, start: i64, end: i64) -> Value {
        let (starts, ends) = (self.integers(&[start]), self.integers(&[end]));
        let axes = self.integers(&[integer(axis)]);
        self.apply("Slice", &[value, &starts, &ends, &axes])
    }

    /// The rows of a matrix, last first.
    pub(super) fn reversed_rows(&mut self, value: &Value) -> Value {
        let (last, beyond_first) = (self.integers(&[-1]), self.integers(&[-i64::MAX]));
        let (axes, steps) = (self.integers(&[0]), self.integers(&[-1]));
        self.apply("Slice", &[value, &last, &beyond_first, &axes, &steps])
    }

    pub(super) fn reshape(&mut self, value: &Value, dims: &[usize]) -> Value {
        let name = self.fresh("Reshape");
        self.reshape_named(value, dims, name)
    }

    /// As [`reshape`](Self::reshape), with a name that tells why where a runtime reports that the sizes do not fit.
    pub(super) fn reshape_named(&mut self, value: &Value, dims: &[usize], name: String) -> Value {
        let dims: Vec<i64> = dims.iter().map(|&size| integer(size)).collect();
        let shape = self.integers(&dims);
        self.push(
            "Reshape",
            name.clone(),
            &[value, &shape],
            vec![name.clone()],
            Vec::new(),
        );
        Value(name)
    }

    /// The row of a table whose number is `index` `[1]`, a whole one; `[1, columns]`.
    pub(super) fn row_at(&mut self, table: &Value, index: &Value) -> Value {
        let to = int_attribute("to", i64::from(INT64));
        let index = self.node("Cast", &[index], vec![to]);
        self.node("Gather", &[table, &index], vec![int_attribute("axis", 0)])
    }

    /// Repeats along axes of size 1.
    pub(super) fn expand(&mut self, value: &Value, dims: &[usize]) -> Value {
        let dims: Vec<i64> = dims.iter().map(|&size| integer(size)).collect();
        let shape = self.integers(&dims);
        self.apply("Expand", &[value, &shape])
    }

    /// Gives a value the name of an output.
    pub(super) fn output(&mut self, port: &Port, value: &Value) {
        let name = format!("to_{}", port.name);
        self.push("Identity", name, &[value], vec![port.name.clone()], Vec::new());
    }

    /// A loop over the rows of `rows`: `body` gets the states and one row of each, and gives the next states and the row
    /// of each result. Returns the last states and the results.
    pub(super) fn scan(
        &mut self,
        name: &str,
        states: &[(Port, Value)],
        rows: &[(Port, Value)],
        body: impl FnOnce(&mut Self, &[Value], &[Value]) -> (Vec<Value>, Vec<(Port, Value)>),
    ) -> (Vec<Value>, Vec<Value>) {
        let outer = std::mem::take(&mut self.nodes);
        let inside = |(port, _): &(Port, Value)| Port {
            name: format!("{name}_{}", port.name),
            ..port.clone()
        };
        let state_ports: Vec<Port> = states.iter().map(inside).collect();
        let row_ports: Vec<Port> = rows.iter().map(inside).collect();
        let values = |ports: &[Port]| ports.iter().map(Port::value).collect::<Vec<_>>();
        let (next, results) = body(self, &values(&state_ports), &values(&row_ports));
        let mut outputs = Vec::new();
        let next = state_ports.iter().zip(&next).map(|(port, value)| {
            let port = Port {
                name: format!("{}_next", port.name),
                ..port.clone()
            };
            (port, value)
        });
        let results = results.iter().map(|row| (inside(row), &row.1));
        for (port, value) in next.chain(results) {
            self.output(&port, value);
            outputs.push(port);
        }
        let graph = GraphProto {
            node: std::mem::replace(&mut self.nodes, outer),
            name: Some(name.to_owned()),
            initializer: Vec::new(),
            doc_string: None,
            input: self.infos(state_ports.iter().chain(&row_ports)),
            output: self.infos(&outputs),
        };
        let found: Vec<String> = outputs.iter().map(|port| format!("{}_all", port.name)).collect();
        let inputs: Vec<&Value> = states.iter().chain(rows).map(|(_, value)| value).collect();
        let body = AttributeProto {
            name: Some("body".to_owned()),
            i: None,
            g: Some(Box::new(graph)),
            r#type: Some(GRAPH),
        };
        let attributes = vec![body, int_attribute("num_scan_inputs", integer(rows.len()))];
        self.push("Scan", name.to_owned(), &inputs, found.clone(), attributes);
        let mut found: Vec<Value> = found.into_iter().map(Value).collect();
        let results = found.split_off(states.len());
        (found, results)
    }

    /// The finished graph.
    pub(super) fn finish(self, name: &str, doc: &str, inputs: &[Port], outputs: &[Port]) -> GraphProto {
        GraphProto {
            name: Some(name.to_owned()),
            doc_string: Some(doc.to_owned()),
            input: self.infos(inputs),
            output: self.infos(outputs),
            node: self.nodes,
            initializer: self.constants,
        }
    }

    fn infos<'a>(&self, ports: impl IntoIterator<Item = &'a Port>) -> Vec<ValueInfoProto> {
        let size = |dim: &Dim| Dimension {
            value: Some(match *dim {
                Dim::Fixed(size) => Size::Value(integer(size)),
                Dim::Named(name) => Size::Param(name.to_owned()),
            }),
        };
        let info = |port: &Port| ValueInfoProto {
            name: Some(port.name.clone()),
            r#type: Some(TypeProto {
                tensor_type: Some(TensorTypeProto {
                    elem_type: Some(self.element()),
                    shape: Some(TensorShapeProto {
                        dim: port.dims.iter().map(size).collect(),
                    }),
                }),
            }),
            doc_string: (!port.doc.is_empty()).then(|| port.doc.clone()),
        };
        ports.into_iter().map(info).collect()
    }
}

fn int_attribute(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        i: Some(value),
        g: None,
        r#type: Some(INT),
    }
}

fn integer(size: usize) -> i64 {
    i64::try_from(size).unwrap_or_else(|_| unreachable!("sizes of models are far below 2^63"))
}
