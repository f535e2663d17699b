/// Finds the data of a program's parameters, buffers, constants and sample inputs in its archive.
#pragma once

#include "engine/graph/archive.h"
#include "engine/graph/program.h"

#include <string>

namespace kernelskill::engine::graph {

/// Which entries hold the data.
struct PayloadNames {
    /// JSON that names an entry for each tensor, of torch 2.9 and later; the first that is there.
    struct Config {
        std::vector<std::string> entries;
        std::string folder; ///< The folder of the entries that it names: "mlp/data/weights/".
    };
    std::vector<Config> configs;
    /// Files of torch.save with a dictionary of tensors, of torch 2.6 to 2.8.
    std::vector<std::string> saved;
    std::string sampleInputs; ///< A file of torch.save.
};

/// Sets the data of `program.tensors` and the sample inputs. Data is mapped, not copied, where it
/// is stored. Tensors that the archive does not hold stay without data, and a note says how many;
/// so it is for tensors of subclasses and for sample inputs that cannot be read. InvalidInput if
/// an entry that is named is absent, too short, or of another type than the graph says.
[[nodiscard]] Result<void> readPayload(Archive& archive, const PayloadNames& names,
                                       Program& program);

} // namespace kernelskill::engine::graph
