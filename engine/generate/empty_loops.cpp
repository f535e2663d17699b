#include "engine/generate/empty_loops.h"

#include "engine/generate/written_function.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine {

using namespace analysis;

namespace {

std::string conditions(const FunctionBody& body, const ParallelNest& nest, std::string_view op,
                       std::string_view join) {
    std::string all;
    for (const MappedLoop& mapped : nest.loops) {
        if (mapped.distance.asConstant())
            continue;
        // Constants go to the right: `n - 1 <= 0` would be false for an unsigned n of 0.
        std::int64_t shift = 0;
        for (const auto& [monomial, coefficient] : mapped.distance.terms())
            if (monomial.empty())
                shift = coefficient;
        all += fmt::format("{}{} {} {}", all.empty() ? "" : join,
                           codeOf(mapped.distance - IndexExpression::constant(shift), body, false),
                           op, -shift);
    }
    return all;
}

} // namespace

std::string nothingToDo(const FunctionBody& body, const ParallelNest& nest) {
    return conditions(body, nest, "<=", " || ");
}

std::string somethingToDo(const FunctionBody& body, const ParallelNest& nest) {
    return conditions(body, nest, ">", " && ");
}

} // namespace kernelskill::engine
