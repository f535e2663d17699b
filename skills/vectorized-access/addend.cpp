#include "skills/vectorized-access/addend.h"

#include "analysis/queries/index_arithmetic.h"
#include "skills/editing/operand_text.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

std::optional<SumRest> withoutAddend(const CodeMap& code, const SourceText& source, ExprId id,
                                     const std::function<bool(ExprId)>& isIt) {
    if (isIt(id))
        return SumRest{};
    const Expr& sum = code.body().expr(id);
    if (sum.kind != ExprKind::Binary || (sum.op != "+" && sum.op != "-") || sum.fromMacro)
        return std::nullopt;
    const ExprId left = sum.children[0];
    const ExprId right = sum.children[1];
    if (auto rest = withoutAddend(code, source, left, isIt)) {
        if (sum.op == "-" && isUnsignedIndexType(sum.type))
            return std::nullopt;
        const Expr& other = code.body().expr(right);
        if (sum.op == "-")
            rest->text += fmt::format("{}-{}{}", rest->text.empty() ? "" : " ",
                                      rest->text.empty() ? "" : " ", besideProduct(source, other));
        else
            rest->text += fmt::format("{}{}", rest->text.empty() ? "" : " + ",
                                      besideComparison(source, other));
        rest->parts.push_back(right);
        return rest;
    }
    if (sum.op == "-")
        return std::nullopt;
    auto rest = withoutAddend(code, source, right, isIt);
    if (rest) {
        rest->text = besideComparison(source, code.body().expr(left)) +
                     (rest->text.empty()            ? ""
                      : rest->text.starts_with("-") ? " - " + rest->text.substr(1)
                                                    : " + " + rest->text);
        rest->parts.push_back(left);
    }
    return rest;
}

} // namespace kernelskill::skills
