/// Whether a file needs the toolkit's headers, or the prelude says all that it uses. The prelude
/// parses several times faster and in a third of the memory.
#pragma once

#include "analysis/command/compile_command.h"
#include "analysis/command/toolchain.h"
#include "analysis/source/diagnostic.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// `command` without the folders of CUDA's own headers: which of those are used is decided here,
/// and mixed with the prelude's they contradict each other.
[[nodiscard]] CompileCommand withoutToolkitFolders(CompileCommand command);

/// True if `name`, as in `#include <name>`, is a header of the toolkit that the prelude lacks or
/// only sketches (CUB, Thrust, libcu++).
[[nodiscard]] bool isOnlyInToolkit(std::string_view name, const Toolchain& toolchain);

/// Identifiers that errors quote.
[[nodiscard]] std::set<std::string> namesInErrors(const std::vector<Diagnostic>& diagnostics);

/// The words of CUDA's headers, the toolkit's and the prelude's. The prelude does not declare all
/// of CUDA: an error about a word of the toolkit may be the prelude's fault.
class HeaderWords {
public:
    /// Reads what every .cu file gets and the toolkit's headers among `includes`: some 3 MB.
    /// `toolchain.toolkit` is set.
    HeaderWords(const Toolchain& toolchain, const std::set<std::string>& includes);

    [[nodiscard]] bool isInToolkit(std::string_view word) const;
    /// Unlike parameter names such as "size", which the prelude uses as well.
    [[nodiscard]] bool isOnlyInToolkit(std::string_view word) const;

private:
    std::vector<std::uint64_t> toolkit_; ///< Hashes, sorted.
    std::vector<std::uint64_t> prelude_;
};

} // namespace kernelskill::analysis
