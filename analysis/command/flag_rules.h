/// Says which flags of a compile command may reach a compiler. They come from files of a workspace,
/// which may be hostile: a flag that nobody knows to be harmless is left out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Why the user should know that `flag` is left out ("it names a program that would be run").
/// nullopt if it is known and means nothing here, as warnings and libraries do.
[[nodiscard]] std::optional<std::string> reasonAgainst(std::string_view flag);

/// The option for nvcc and NVRTC that `flag`, without a value of its own, asks for: "--fmad=false",
/// "--device-debug". nullopt if it does not change machine code.
[[nodiscard]] std::optional<std::string> codeOption(std::string_view flag);

/// Whether ptxas's option `part` ("-O1", "--dlcm=ca") changes machine code and nothing else: it
/// names no file.
[[nodiscard]] bool isPtxasOption(std::string_view part);
/// Whether it only makes ptxas say more or less.
[[nodiscard]] bool isPtxasMessageOption(std::string_view part);

/// Whether `name` is sm_ or compute_, a number and at most one letter.
[[nodiscard]] bool isArchitectureName(std::string_view name);

/// Whether a macro's definition, or its name, can be passed on. nvcc hands its arguments to a
/// shell, which would run what is written in $() or backticks.
[[nodiscard]] bool isSafeDefinition(std::string_view definition);
/// The same of a folder or file.
[[nodiscard]] bool isSafePath(std::string_view path);

} // namespace kernelskill::analysis
