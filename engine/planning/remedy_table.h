/// Experts' methods against each bottleneck, as data: read from remedies.yaml.
#pragma once

#include "analysis/source/error.h"
#include "engine/diagnosis/bottleneck.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// The name of the method that is to leave the kernel as it is.
inline constexpr std::string_view nothingToDo = "none";

struct RemedyMethod {
    std::string id;
    std::string text; ///< What it is, as a clause.
    std::string why;  ///< Why it is not automated.
};

struct RemedyAnswer {
    BottleneckKind bottleneck = BottleneckKind::Balanced;
    std::vector<std::string> shapes;  ///< All have to be found; empty: for the rest of the kind.
    std::vector<std::string> methods; ///< Ids, first choice first.
    bool isQuiet = false;             ///< Skills that do not fit are not named as remedies.
    std::string source;

    /// The place of the method in the list; nullopt if it is not in it.
    [[nodiscard]] std::optional<std::size_t> placeOf(std::string_view method) const;
};

struct RemedyTable {
    std::vector<RemedyAnswer> answers; ///< The first that holds decides.
    std::vector<RemedyMethod> methods;
    std::vector<std::string> certain; ///< Skills whose gate is itself the proof that they help.

    /// The answer to the bottleneck; nullptr if the table has none.
    [[nodiscard]] const RemedyAnswer* answerTo(const Bottleneck& bottleneck) const;
    /// nullptr if the table does not describe the method.
    [[nodiscard]] const RemedyMethod* method(std::string_view id) const;
};

/// Fails with InvalidInput and the line of the first mistake.
[[nodiscard]] Result<RemedyTable> parseRemedyTable(std::string_view yaml);

/// The text of remedies.yaml that this program was built with.
[[nodiscard]] std::string_view builtinRemedyText();
/// The parsed table. Its errors are a defect of the build; a test prevents them.
[[nodiscard]] const Result<RemedyTable>& builtinRemedies();

} // namespace kernelskill::engine
