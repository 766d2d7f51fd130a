// Kinds of models and what can be said about them. Fields that stay empty take the default of the command line.

export const KINDS = [
  ["arx", "ARX: linear, fitted in an instant", "A weighted sum of past inputs and outputs. Try it first: if it is good enough, nothing else is needed."],
  ["inode", "INODE: interval neural ODE", "A network on lagged inputs and outputs whose weights have margins: the band is their consequence."],
  ["ilstm", "ILSTM: interval LSTM", "A recurrent network with margins, for plants with a long memory. Slower to train."],
  ["iss", "ISS: interval state space", "Hidden states that follow the inputs, linear plus a network, with margins."],
  ["bnode", "BNODE: Bayesian neural ODE", "Weights with a distribution; the band is the spread of sampled networks."],
  ["blstm", "BLSTM: Bayesian LSTM", "The same for an LSTM."],
  ["dropout-node", "Dropout NODE", "The band is the spread of networks with units left out."],
  ["dropout-lstm", "Dropout LSTM", "The same for an LSTM."],
  ["ensemble-node", "Ensemble of NODEs", "The band is the spread of several networks."],
  ["ensemble-lstm", "Ensemble of LSTMs", "The same for LSTMs."],
];

const network = (kind) => kind !== "arx";
const interval = (kind) => ["inode", "ilstm", "iss"].includes(kind);

// Name of the setting, label, note, how text becomes a value, for which kinds.
export const FIELDS = [
  ["lags", "Lags nx,nd,ny", "Input taps beyond the first, dead time, output lags. Empty: searched.", (text) => text, () => true],
  ["states", "States", "Hidden states. Empty: the default of the model.", Number, (kind) => kind === "iss"],
  ["hidden", "Widths of hidden layers", "Such as 20,10. Empty: the default of the model.", (text) => text.split(",").map(Number), network],
  ["strategy", "Training", "cascade: weights first, margins after; joint: both at once. Empty: cascade.", (text) => text, interval],
  ["epochs", "Epochs per stage", "More are slower and fit closer. Empty: the default of the model.", Number, network],
  ["learning_rate", "Learning rate", "Empty: the default of the model.", Number, network],
];
