#include "lsp-server/report/model_check_text.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace kernelskill::lsp {

using engine::graph::ModelCheck;

std::string checkedShapesText(const ModelCheck& check) {
    std::string text;
    for (const std::vector<std::string>& inputs : check.shapes)
        text += fmt::format("{}{}", text.empty() ? "" : "; with ", fmt::join(inputs, ", "));
    return text;
}

std::string modelCheckText(const ModelCheck& check) {
    const std::string with = checkedShapesText(check);
    switch (check.outcome) {
    case ModelCheck::Outcome::Agrees:
        return fmt::format("checked: {} {} with LibTorch on the emulator, with {}; relative error "
                           "at most {:.1e}{}",
                           check.kernels, check.kernels == 1 ? "kernel agrees" : "kernels agree",
                           with, check.largestError, check.why.empty() ? "" : "; " + check.why);
    case ModelCheck::Outcome::Differs:
        return fmt::format("wrong: with {}, {}", with, check.why);
    case ModelCheck::Outcome::NotCompared:
        break;
    }
    return "not checked on the emulator: " + check.why;
}

nlohmann::json modelCheckJson(const ModelCheck& check) {
    return {{"outcome", nameOf(check.outcome)},
            {"why", check.why},
            {"largest_error", check.largestError},
            {"kernels", check.kernels},
            {"inputs", check.shapes.empty() ? std::vector<std::string>() : check.shapes.front()},
            {"shapes", check.shapes}};
}

} // namespace kernelskill::lsp
