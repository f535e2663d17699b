#include "tests/analysis/nest/nests.h"

#include "analysis/nest/nest_text.h"
#include "tests/analysis/support/analyze.h"

#include <gtest/gtest.h>

namespace kernelskill::analysis::testing {

ReadNest readNest(const std::string& text) {
    ReadNest result;
    result.model = analyze(text);
    EXPECT_TRUE(errorsOf(result.model).empty()) << text;
    EXPECT_FALSE(result.model.kernels.empty());
    if (!result.model.kernels.empty())
        result.nest = buildNest(result.model, result.kernel());
    return result;
}

ReadNest readBody(const std::string& body) {
    return readNest(
        "__global__ void k(const float* a, const float* b, float* c, int n, int m) {\n" + body +
        "\n}\n");
}

std::string ReadNest::nodes() const {
    std::string text = nestText(nest, model, kernel());
    // Lines of the head have two spaces in front; those of nodes, a line number or more spaces.
    std::string result;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = text.find('\n', begin);
        const std::string line = text.substr(begin, end - begin);
        const bool isNode =
            line.size() > 4 && (line.starts_with("    ") || (line[3] >= '0' && line[3] <= '9'));
        if (isNode)
            result += line.substr(4) + "\n";
        begin = end + 1;
    }
    return result;
}

NestNodeId ReadNest::loopNode(const std::string& iterator) const {
    for (NestNodeId id = 0; id < nest.nodes.size(); ++id)
        if (const NestLoop* loop = nest.nodes[id].loop();
            loop != nullptr && nest.symbols.nameOf(loop->iterator) == iterator)
            return id;
    ADD_FAILURE() << "no loop over " << iterator << " in\n" << nodes();
    return 0;
}

const NestLoop& ReadNest::loop(const std::string& iterator) const {
    static const NestLoop none;
    const NestLoop* found = nest.nodes.empty() ? nullptr : nest.node(loopNode(iterator)).loop();
    return found != nullptr ? *found : none;
}

std::string ReadNest::accesses() const {
    std::string text;
    for (const NestAccess& access : nest.accesses) {
        if (access.node == noId)
            continue;
        if (access.array != noId && nest.arrays[access.array].isVariable)
            continue;
        text += (text.empty() ? "" : "; ") + accessText(nest, access);
        for (const NestCondition& assumption : access.assumptions)
            text += " if " + nest.symbols.describe(assumption);
        if (access.form == NestAccessForm::Opaque)
            text += " opaque";
        if (access.form == NestAccessForm::Indirect)
            text += " indirect";
        if (access.form == NestAccessForm::Parametric)
            text += " parametric";
    }
    return text;
}

} // namespace kernelskill::analysis::testing
