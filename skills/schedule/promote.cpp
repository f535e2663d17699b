#include "skills/schedule/promote.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

namespace kernelskill::skills {

using namespace analysis;

std::vector<std::string> registerNames(const SkillContext& context,
                                       const std::vector<KeptElement>& elements) {
    const FunctionBody& body = context.kernel.body;
    const bool hasUnderscores = std::ranges::any_of(body.variables, [](const Variable& variable) {
        return variable.storage != Storage::HostGlobal && variable.name.contains('_');
    });
    std::vector<std::string> names;
    for (const KeptElement& element : elements) {
        std::string name = context.shared().nest().arrays[element.array].name;
        std::ranges::replace(name, '.', '_');
        name = elements.size() == 1 && element.reduction == "+" ? "sum"
               : hasUnderscores                                 ? name + "_value"
                                                                : name + "Value";
        name = freshName(body, name);
        while (std::ranges::find(names, name) != names.end())
            name += '2';
        names.push_back(std::move(name));
    }
    return names;
}

void promote(Draft& draft, const SkillContext& context, const KeptElement& element,
             const std::string& name, Register is) {
    const FunctionBody& body = context.kernel.body;
    const std::string declared =
        is == Register::Declared ? name : fmt::format("{} {}", element.type, name);
    if (element.initialisation == noId)
        draft.before(element.region.front(),
                     {fmt::format("{}{} = {};",
                                  element.isWritten || is == Register::Declared ? "" : "const ",
                                  declared, element.text)});
    for (const ExprId use : element.uses) {
        const bool isFirst = element.initialisation != noId && use == element.uses.front();
        draft.replace(body.expr(use).span, isFirst ? declared : name);
    }
}

void storeBack(Draft& draft, const std::vector<KeptElement>& elements,
               const std::vector<std::string>& names, const std::string& guard) {
    std::map<StmtId, std::vector<std::string>> stores; // By the statement that they stand behind.
    for (std::size_t i = 0; i < elements.size(); ++i)
        if (elements[i].isWritten)
            stores[elements[i].region.back()].push_back(
                fmt::format("{} = {};", elements[i].text, names[i]));
    for (const auto& [last, lines] : stores)
        draft.after(last,
                    guard.empty() ? lines : draft.controlled(fmt::format("if ({})", guard), lines));
}

} // namespace kernelskill::skills
