#include "skills/schedule/promoted_places.h"

#include "skills/schedule/promote.h"

#include <string>

namespace kernelskill::skills {

std::vector<analysis::TextEdit> promotedPlaces(const SkillContext& context) {
    auto found = keptElements(context, KeptElements::All);
    if (!found)
        return {};
    std::vector<KeptElement> elements = *std::move(found);
    std::erase_if(elements, [](const KeptElement& element) {
        return !element.isWritten || !element.reduction.empty();
    });
    if (elements.empty())
        return {};
    std::erase_if(elements, [loop = elements.front().loop](const KeptElement& element) {
        return element.loop != loop; // Regions of two loops may overlap.
    });
    const std::vector<std::string> names = registerNames(context, elements);
    Draft draft(context);
    for (std::size_t i = 0; i < elements.size(); ++i)
        promote(draft, context, elements[i], names[i]);
    storeBack(draft, elements, names);
    return draft.edits();
}

} // namespace kernelskill::skills
