/// The shape of a network, of whatever method.
///
/// | field | symbol | default | range |
/// |---|---|---|---|
/// | `hidden` | | 40, 40 | positive widths |
/// | `linear_path` | a | false | true only for interval networks |
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkConfig {
    /// Widths of the hidden layers or cells.
    pub hidden: Vec<usize>,
    /// Learn a linear function of the regressor beside the network, started at the least-squares ARX fit.
    pub linear_path: bool,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            hidden: vec![40, 40],
            linear_path: false,
        }
    }
}
