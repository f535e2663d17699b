/// Reads kernels, and edits of them planted by hand, from the files of tests/gate/planted.
///
/// A file is a sequence of kernels, each followed by its edits. Lines that begin with `===` or
/// `---` divide it:
///
///     === kernel NAME        the text of a CUDA file follows, up to the next line with ===
///     === wrong CLASS: NAME  an edit of that text that the Reviewer has to refuse
///     === right: NAME        an edit that it has to accept
///     === equal CLASS: NAME  an edit that was meant to be wrong and computes the same
///     --- kernel NAME        the edit is reviewed as one of this kernel, not of the text's first
///     --- numerics WORDS     what the edit states: `reassociates` or `reduced precision`; else
///     exact
///     --- because REASON     why the edit computes the same: each equal edit has a reason
///     --- from               the lines that follow are replaced where the text first has them,
///     --- to                 by the lines that follow here
///
/// An edit has one or more pairs of `from` and `to`. Line breaks at the end of either do not belong
/// to it.
#pragma once

#include "analysis/source/error.h"
#include "analysis/source/text_edit.h"
#include "skills/base/accuracy.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::testing {

enum class PlantedKind : std::uint8_t { Wrong, Right, Equal };

struct PlantedCase {
    PlantedKind kind = PlantedKind::Wrong;
    std::string mistake; ///< The class of the mistake; empty for a right edit.
    std::string name;
    std::string kernel; ///< Empty: the first of the text.
    std::string reason; ///< Why it computes the same, if it does.
    skills::Accuracy accuracy;
    std::vector<analysis::TextEdit> edits; ///< They fit the program's text.
};

struct PlantedProgram {
    std::string name;
    std::string text;
    std::vector<PlantedCase> cases;
};

/// InvalidInput, with `file` and the line, for a text of another form, for lines that a program
/// does not have, and for names that occur twice.
[[nodiscard]] Result<std::vector<PlantedProgram>> parsePlanted(std::string_view text,
                                                               const std::string& file);

/// InvalidInput also if the file cannot be read.
[[nodiscard]] Result<std::vector<PlantedProgram>> readPlanted(const std::filesystem::path& file);

} // namespace kernelskill::testing
