/// Finds in assembly what no compiler writes. A kernel can smuggle text into it, by inline assembly
/// behind a macro, the name of a section or of a symbol; the assembler would read files for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// The foreign part of GNU assembly, to be named in a refusal: "the directive '.incbin'" or "inline
/// assembly". Directives have to be in a list of those that g++ and clang write. nullopt: nothing.
[[nodiscard]] std::optional<std::string> foreignAssembly(std::string_view assembly);

} // namespace kernelskill::engine
