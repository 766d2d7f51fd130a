/// The shape of a network, of whatever method.
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `hidden` | | 40, 40 | positive widths; of iss the units of its two maps, 0 for none |
/// | `linear_path` | a | false | true only for inode and ilstm |
/// | `states` | n | 4 | at least 1; only iss reads it |
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkConfig {
    /// Widths of the hidden layers or cells.
    pub hidden: Vec<usize>,
    /// Learn a linear function of the regressor beside the network, started at the least-squares ARX fit.
    pub linear_path: bool,
    /// States of a state-space model.
    pub states: usize,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            hidden: vec![40, 40],
            linear_path: false,
            states: 4,
        }
    }
}
