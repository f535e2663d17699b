#include "engine/graph/program_check.h"

#include "analysis/source/try.h"
#include "engine/graph/argument_json.h"
#include "engine/graph/json_text.h"
#include "engine/graph/operators.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

namespace kernelskill::engine::graph {
namespace {

/// Names joined by points, at least two; torch writes operators of extensions as "#space:name".
bool isOperator(std::string_view target) {
    const bool isExtension = target.starts_with('#');
    const char separator = isExtension ? ':' : '.';
    if (isExtension)
        target.remove_prefix(1);
    std::size_t parts = 1;
    char before = separator;
    for (const char c : target) {
        if (c == separator) {
            if (before == separator)
                return false;
            ++parts;
        } else if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' &&
                   !(isExtension && c == '.')) {
            return false;
        }
        before = c;
    }
    return before != separator && parts >= 2;
}

class ProgramCheck {
public:
    ProgramCheck(const Program& program, const std::string& where)
        : program_(program), where_(where) {}

    Result<void> check() {
        for (std::size_t i = 0; i < program_.inputs.size(); ++i)
            if (const std::string& name = program_.inputs[i].value; !name.empty())
                KERNELSKILL_CHECK(define(name, fmt::format("input {}", i + 1),
                                         program_.inputs[i].kind != Input::Kind::Fixed));
        for (const Node& node : program_.nodes)
            KERNELSKILL_CHECK(checkNode(node));
        for (std::size_t i = 0; i < program_.outputs.size(); ++i)
            if (const std::string& name = program_.outputs[i].value;
                !name.empty() && !defined_.contains(name))
                return failed(fmt::format("it is '{}', which no node defines", name),
                              fmt::format("output {}", i + 1));
        return {};
    }

private:
    Result<void> checkNode(const Node& node) {
        if (!isOperator(node.target))
            return failed(fmt::format("'{}' does not name an operator", node.target),
                          describe(node));
        for (const NamedArgument& argument : node.arguments)
            for (const std::string& name : valuesIn(argument.value))
                if (!defined_.contains(name))
                    return failed(fmt::format("it reads '{}', which is neither an input nor a "
                                              "result of a node before it",
                                              name),
                                  describe(node));
        const Operator* const known = findOperator(node.target);
        if (known != nullptr && known->results != node.results.size())
            return failed(fmt::format("it has {} results, where the operator has {}",
                                      node.results.size(), known->results),
                          describe(node));
        for (const std::vector<std::string>& result : node.results)
            for (const std::string& name : result)
                if (!name.empty())
                    KERNELSKILL_CHECK(define(name, describe(node), true));
        return {};
    }

    Result<void> define(const std::string& name, const std::string& definer, bool isTyped) {
        if (!defined_.insert(name).second)
            return failed(fmt::format("it defines '{}', which is defined before it", name),
                          definer);
        if (isTyped && !program_.values.contains(name) && !program_.symbolicInts.contains(name) &&
            !program_.otherValues.contains(name))
            return failed(fmt::format("'{}' has no type", name), definer);
        return {};
    }

    [[nodiscard]] std::unexpected<Error> failed(std::string what, const std::string& part) const {
        return malformed(std::move(what), where_ + ", " + part);
    }

    const Program& program_;
    const std::string& where_;
    std::set<std::string_view> defined_;
};

} // namespace

Result<void> checkProgram(const Program& program, const std::string& where) {
    return ProgramCheck(program, where).check();
}

std::string describe(const Node& node) {
    return fmt::format("node '{}' ({}{}{})", node.name, node.target,
                       node.module.empty() ? "" : ", module ", node.module);
}

} // namespace kernelskill::engine::graph
