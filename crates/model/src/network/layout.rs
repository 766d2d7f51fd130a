//! Where the parameters of a network lie in one flat vector.

use core::ops::Range;

use super::architecture::{Architecture, NetworkKind};

/// The role of a block of parameters in its layer; its name in a model file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Weights on the layer's input, `[out, in]`.
    Weight,
    /// Weights on the cell's own state, `[4h, h]`, gates in the order i, f, q, o.
    Recurrent,
    /// Bias, `[out]`.
    Bias,
}

impl Role {
    /// `weight`, `recurrent` or `bias`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::Weight => "weight",
            Role::Recurrent => "recurrent",
            Role::Bias => "bias",
        }
    }
}

/// Which layer a block belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerId {
    /// Layers count from 0; the last one is the read-out.
    Network(usize),
    /// The linear path A.
    Linear,
    /// The network of a map: layer 0 has the units, layer 1 adds them up.
    Map(MapId, usize),
    /// The linear path of a map, [A B] or [C D].
    MapLinear(MapId),
    /// The observer's gain K.
    Observer,
}

/// One of the two maps of a state-space model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapId {
    /// x(k) from x(k-1) and u(k-1).
    State,
    /// ŷ(k) from x(k) and u(k).
    Output,
}

impl MapId {
    /// `state` or `output`, as in a model file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MapId::State => "state",
            MapId::Output => "output",
        }
    }
}

impl LayerId {
    /// Name in a model file, such as `0`, `linear` or `state.linear`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            LayerId::Network(index) => index.to_string(),
            LayerId::Linear => "linear".to_owned(),
            LayerId::Map(map, index) => format!("{}.{index}", map.name()),
            LayerId::MapLinear(map) => format!("{}.linear", map.name()),
            LayerId::Observer => "observer".to_owned(),
        }
    }
}

/// A matrix (or bias) inside the flat parameter vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Layer.
    pub layer: LayerId,
    /// Role in it.
    pub role: Role,
    /// Rows.
    pub rows: usize,
    /// Columns; 1 for a bias.
    pub columns: usize,
    /// Position in the flat vector.
    pub range: Range<usize>,
}

impl Block {
    /// Name in a model file without its prefix, such as `0.weight` or `linear.weight`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{}", self.layer.name(), self.role.name())
    }

    /// `[rows, columns]`, or `[rows]` for a bias.
    #[must_use]
    pub fn shape(&self) -> Vec<usize> {
        if self.role == Role::Bias {
            vec![self.rows]
        } else {
            vec![self.rows, self.columns]
        }
    }
}

/// One layer's blocks.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    pub(crate) out: usize,
    pub(crate) inner: usize,
    pub(crate) weight: Range<usize>,
    /// Empty outside LSTM cells.
    pub(crate) recurrent: Range<usize>,
    pub(crate) bias: Range<usize>,
}

/// One map of a state-space model, z to L·z + b + W₂·tanh(W₁·z + b₁).
#[derive(Clone, Debug)]
pub(crate) struct MapLayout {
    /// Entries of the result.
    pub(crate) rows: usize,
    /// Entries of z.
    pub(crate) width: usize,
    /// Units; without any, W₁, b₁ and W₂ are empty.
    pub(crate) units: usize,
    /// W₁ `[units, width]`
    pub(crate) inner: Range<usize>,
    /// b₁
    pub(crate) inner_bias: Range<usize>,
    /// W₂ `[rows, units]`
    pub(crate) outer: Range<usize>,
    /// L `[rows, width]`
    pub(crate) linear: Range<usize>,
    /// b
    pub(crate) bias: Range<usize>,
}

/// Both maps and the observer of a state-space model.
#[derive(Clone, Debug)]
pub(crate) struct Maps {
    pub(crate) state: MapLayout,
    pub(crate) output: MapLayout,
    /// K `[states, outputs]`
    pub(crate) observer: Range<usize>,
}

/// A weight matrix, as the interval branch sees it.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) range: Range<usize>,
}

/// Where the parameters of an [`Architecture`] lie.
#[derive(Clone, Debug)]
pub struct Layout {
    blocks: Vec<Block>,
    /// Layers or cells, then the read-out; none in a state-space model.
    pub(crate) layers: Vec<Layer>,
    /// A `[outputs, regressor]`; empty without a linear path.
    pub(crate) linear: Range<usize>,
    /// Of a state-space model.
    pub(crate) maps: Option<Maps>,
    len: usize,
}

impl Layout {
    pub(super) fn new(architecture: &Architecture) -> Self {
        let mut layout = Self {
            blocks: Vec::new(),
            layers: Vec::new(),
            linear: 0..0,
            maps: None,
            len: 0,
        };
        match architecture.kind {
            NetworkKind::Node | NetworkKind::Lstm => layout.push_layers(architecture),
            NetworkKind::StateSpace => layout.push_maps(architecture),
        }
        layout
    }

    fn push_layers(&mut self, architecture: &Architecture) {
        let layout = self;
        let mut inner = architecture.regressor_len();
        for (index, &width) in architecture.hidden.iter().enumerate() {
            let layer = LayerId::Network(index);
            let out = if architecture.kind == NetworkKind::Lstm {
                4 * width
            } else {
                width
            };
            let weight = layout.push(layer, Role::Weight, out, inner);
            let recurrent = match architecture.kind {
                NetworkKind::Lstm => layout.push(layer, Role::Recurrent, out, width),
                NetworkKind::Node | NetworkKind::StateSpace => 0..0,
            };
            let bias = layout.push(layer, Role::Bias, out, 1);
            layout.layers.push(Layer {
                out,
                inner,
                weight,
                recurrent,
                bias,
            });
            inner = width;
        }
        let layer = LayerId::Network(architecture.hidden.len());
        let readout = architecture.readout_len();
        let weight = layout.push(layer, Role::Weight, readout, inner);
        let bias = layout.push(layer, Role::Bias, readout, 1);
        layout.layers.push(Layer {
            out: readout,
            inner,
            weight,
            recurrent: 0..0,
            bias,
        });
        if architecture.linear_path {
            layout.linear = layout.push(
                LayerId::Linear,
                Role::Weight,
                architecture.outputs,
                architecture.regressor_len(),
            );
        }
    }

    fn push_maps(&mut self, architecture: &Architecture) {
        let Architecture {
            states,
            inputs,
            outputs,
            ref hidden,
            ..
        } = *architecture;
        let units = |map: usize| hidden.get(map).copied().unwrap_or(0);
        let state = self.push_map(MapId::State, states, states + inputs, units(0));
        let output = self.push_map(MapId::Output, outputs, states + inputs, units(1));
        let observer = self.push(LayerId::Observer, Role::Weight, states, outputs);
        self.maps = Some(Maps {
            state,
            output,
            observer,
        });
    }

    fn push_map(&mut self, map: MapId, rows: usize, width: usize, units: usize) -> MapLayout {
        MapLayout {
            rows,
            width,
            units,
            inner: self.push(LayerId::Map(map, 0), Role::Weight, units, width),
            inner_bias: self.push(LayerId::Map(map, 0), Role::Bias, units, 1),
            outer: self.push(LayerId::Map(map, 1), Role::Weight, rows, units),
            linear: self.push(LayerId::MapLinear(map), Role::Weight, rows, width),
            bias: self.push(LayerId::Map(map, 1), Role::Bias, rows, 1),
        }
    }

    fn push(&mut self, layer: LayerId, role: Role, rows: usize, columns: usize) -> Range<usize> {
        let range = self.len..self.len + rows * columns;
        self.len = range.end;
        // A map without units has no matrices of theirs.
        if !range.is_empty() {
            self.blocks.push(Block {
                layer,
                role,
                rows,
                columns,
                range: range.clone(),
            });
        }
        range
    }

    /// Weights that the interval branch multiplies with crisp values: of the first layer, of cells on their states, of a
    /// linear path; of a state-space model W₁, [A B] and K.
    pub(crate) fn crisp_input(&self) -> Vec<Matrix> {
        if let Some(Maps {
            state,
            output,
            observer,
        }) = &self.maps
        {
            return vec![
                Matrix::new(state.units, state.width, &state.inner),
                Matrix::new(state.rows, state.width, &state.linear),
                Matrix::new(state.rows, output.rows, observer),
            ];
        }
        let first = self.layers.first();
        let cells = self.layers.iter().filter(|layer| !layer.recurrent.is_empty());
        let outputs = self.layers.last().map_or(1, |layer| layer.out);
        first
            .map(|layer| Matrix::new(layer.out, layer.inner, &layer.weight))
            .into_iter()
            .chain(cells.map(|layer| Matrix::new(layer.out, layer.out / 4, &layer.recurrent)))
            .chain((!self.linear.is_empty()).then(|| Matrix::new(outputs, self.linear.len() / outputs, &self.linear)))
            .collect()
    }

    /// Weights that the interval branch multiplies with bounds: of every layer but the first; of a state-space model W₂, V₁,
    /// V₂ and [C D].
    pub(crate) fn interval_input(&self) -> Vec<Matrix> {
        if let Some(Maps { state, output, .. }) = &self.maps {
            return vec![
                Matrix::new(state.rows, state.units, &state.outer),
                Matrix::new(output.units, output.width, &output.inner),
                Matrix::new(output.rows, output.units, &output.outer),
                Matrix::new(output.rows, output.width, &output.linear),
            ];
        }
        let inner = self.layers.iter().skip(1);
        inner
            .map(|layer| Matrix::new(layer.out, layer.inner, &layer.weight))
            .collect()
    }

    /// All blocks, in the order of the flat vector.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Number of parameters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Never: a network has parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether a block belongs to the read-out (margins start differently there, docs/method.md, section 5).
    #[must_use]
    pub fn is_output(&self, block: &Block) -> bool {
        match block.layer {
            LayerId::Network(index) => index + 1 == self.layers.len(),
            LayerId::Map(MapId::Output, 1) => true,
            LayerId::Linear | LayerId::Map(..) | LayerId::MapLinear(_) | LayerId::Observer => false,
        }
    }

    /// The weights θ_sh that GradNorm compares losses on: those of the last hidden layer (docs/method.md, section 6), of a
    /// state-space model the whole state map's.
    #[must_use]
    pub fn shared(&self) -> Vec<Range<usize>> {
        if let Some(Maps { state, .. }) = &self.maps {
            let ranges = [&state.inner, &state.outer, &state.linear];
            return ranges.into_iter().filter(|range| !range.is_empty()).cloned().collect();
        }
        let layer = &self.layers[self.layers.len().saturating_sub(2)];
        [layer.weight.clone(), layer.recurrent.clone()]
            .into_iter()
            .filter(|range| !range.is_empty())
            .collect()
    }
}

impl Matrix {
    fn new(rows: usize, columns: usize, range: &Range<usize>) -> Self {
        Self {
            rows,
            columns,
            range: range.clone(),
        }
    }
}
