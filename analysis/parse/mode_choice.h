/// Decides whether a file needs the toolkit's headers or the prelude suffices. The prelude parses
/// several times faster and needs a third of the memory.
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

/// `command` without the folders of CUDA's own headers. These folders are chosen here, because they
/// conflict with the prelude's.
[[nodiscard]] CompileCommand withoutToolkitFolders(CompileCommand command);

/// True if the toolkit has the header `name` (as in `#include <name>`) and the prelude lacks it or
/// has only a sketch of it (CUB, Thrust, libcu++).
[[nodiscard]] bool isOnlyInToolkit(std::string_view name, const Toolchain& toolchain);

/// The identifiers that errors quote.
[[nodiscard]] std::set<std::string> namesInErrors(const std::vector<Diagnostic>& diagnostics);

/// The words in CUDA's headers, both the toolkit's and the prelude's. The prelude does not declare
/// all of CUDA, so an error about a word of the toolkit may be the prelude's fault.
class HeaderWords {
public:
    /// Reads the headers that every .cu file gets, and the toolkit's headers among `includes`:
    /// about 3 MB. `toolchain.toolkit` must be set.
    HeaderWords(const Toolchain& toolchain, const std::set<std::string>& includes);

    [[nodiscard]] bool isInToolkit(std::string_view word) const;
    /// False for words that the prelude uses as well, such as the parameter name "size".
    [[nodiscard]] bool isOnlyInToolkit(std::string_view word) const;

private:
    std::vector<std::uint64_t> toolkit_; ///< Hashes, sorted.
    std::vector<std::uint64_t> prelude_;
};

} // namespace kernelskill::analysis
