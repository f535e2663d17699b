/// Rules for the text of a proposed kernel. They are checked on the tokens alone, before any parser
/// or compiler sees them, because a compiler can be made to read files (#include, #embed, .incbin),
/// to write large ones, and to print what the author wants. Text that passes is still untrusted and
/// runs in the sandbox.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Why `proposed` may not replace `original`, in one sentence; nullopt if it may. Both are whole
/// definitions with template header and attributes. The rules:
/// - it is one function definition with the original's template header, attributes, name and
///   parameters; `const`, `__restrict__` and `__launch_bounds__(...)` may come and go;
/// - printable ASCII, at most 64 KiB and 20000 tokens, brackets at most 64 deep and balanced;
/// - no preprocessor but `#pragma unroll`, no line splices, digraphs or trigraphs;
/// - no text in quotes and no asm that the original does not have;
/// - no names that are reserved in C++ and not CUDA's, of the emulator, or of the compiler;
/// - no `static`, `extern` or `thread_local` variables but `extern __shared__` ones, no attributes
///   beyond the plain ones, nothing that device code cannot have (exceptions, new, coroutines).
[[nodiscard]] std::optional<std::string> refusalOf(std::string_view original,
                                                   std::string_view proposed);

} // namespace kernelskill::engine
