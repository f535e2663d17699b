#include "engine/graph/program_part.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace kernelskill::engine::graph {

namespace {

std::unexpected<Error> unsupported(const std::string& what, const Node& node) {
    return std::unexpected(Error{ErrorKind::Unsupported, what, "node " + node.name, {}});
}

class PartMaking {
public:
    PartMaking(const Program& program, const ProgramPart& part) : program_(program), part_(part) {}

    Result<NamedPart> run() {
        if (!program_.symbols.empty())
            return std::unexpected(
                Error{ErrorKind::Unsupported, "a part of a program with dynamic extents", {}, {}});
        made_.torchVersion = program_.torchVersion;
        made_.schemaMajor = program_.schemaMajor;
        made_.schemaMinor = program_.schemaMinor;
        for (const Node& node : program_.nodes)
            for (const auto& names : node.results)
                for (const std::string& name : names)
                    if (part_.nodes.contains(node.name) && !name.empty())
                        computed_.insert(name);
        for (const Node& node : program_.nodes)
            if (part_.nodes.contains(node.name))
                if (auto added = add(node); !added)
                    return std::unexpected(added.error());
        if (made_.nodes.size() != part_.nodes.size())
            return std::unexpected(
                Error{ErrorKind::InvalidInput, "the program lacks a node of the part", {}, {}});
        for (const std::string& output : part_.outputs) {
            if (!computed_.contains(output))
                return std::unexpected(Error{ErrorKind::InvalidInput,
                                             "no node of the part makes the output " + output,
                                             {},
                                             {}});
        }
        // By their numbers: in the order in which nodes make them.
        for (const std::string& value : order_)
            if (part_.outputs.contains(value))
                made_.outputs.push_back({Output::Kind::User, names_.at(value), {}, {}});
        return NamedPart{std::move(made_), std::move(names_)};
    }

private:
    const std::string& nameOf(const std::string& value) {
        const auto [known, isNew] =
            names_.try_emplace(value, "value" + std::to_string(names_.size()));
        if (isNew) {
            order_.push_back(value);
            if (const auto type = program_.values.find(value); type != program_.values.end())
                made_.values[known->second] = type->second;
        }
        return known->second;
    }

    Result<void> addInput(const std::string& value, const Node& node) {
        if (computed_.contains(value) || names_.contains(value))
            return {};
        if (!program_.values.contains(value))
            return unsupported("it reads the number " + value, node);
        const std::string& name = nameOf(value);
        const auto given = std::ranges::find(program_.inputs, value, &Input::value);
        if (given == program_.inputs.end() || given->kind == Input::Kind::User) {
            made_.inputs.push_back({Input::Kind::User, name, {}, {}});
            return {};
        }
        const std::string target = name + "_tensor";
        made_.inputs.push_back({given->kind, name, target, {}});
        if (const auto tensor = program_.tensors.find(given->target);
            tensor != program_.tensors.end())
            made_.tensors[target] = tensor->second;
        return {};
    }

    Result<void> add(const Node& node) {
        Node copy = node;
        copy.name = partNodeName(made_.nodes.size());
        copy.module.clear();
        for (NamedArgument& argument : copy.arguments) {
            if (std::holds_alternative<OtherArgument>(argument.value))
                return unsupported("its argument '" + argument.name + "' is a subgraph or object",
                                   node);
            for (const std::string& value : valuesIn(argument.value))
                if (auto added = addInput(value, node); !added)
                    return added;
            rename(argument.value);
        }
        for (auto& names : copy.results)
            for (std::string& name : names) {
                if (name.empty())
                    continue;
                if (!program_.values.contains(name))
                    return unsupported("it computes the number " + name, node);
                name = nameOf(name);
            }
        made_.nodes.push_back(std::move(copy));
        return {};
    }

    void rename(ValueName& value) { value.name = nameOf(value.name); }
    void rename(Argument& argument) {
        if (auto* value = std::get_if<ValueName>(&argument))
            rename(*value);
        else if (auto* values = std::get_if<std::vector<ValueName>>(&argument))
            for (ValueName& each : *values)
                rename(each);
        else if (auto* maybe = std::get_if<std::vector<std::optional<ValueName>>>(&argument))
            for (std::optional<ValueName>& each : *maybe)
                if (each)
                    rename(*each);
    }

    const Program& program_;
    const ProgramPart& part_;
    Program made_;
    std::set<std::string> computed_; ///< The values that nodes of the part make.
    std::map<std::string, std::string> names_;
    std::vector<std::string> order_; ///< The values in the order of their numbers.
};

} // namespace

std::string partNodeName(std::size_t place) {
    return "node" + std::to_string(place);
}

Result<NamedPart> namedPart(const Program& program, const ProgramPart& part) {
    return PartMaking(program, part).run();
}

Result<Program> programPart(const Program& program, const ProgramPart& part) {
    auto named = namedPart(program, part);
    if (!named)
        return std::unexpected(named.error());
    return std::move(named->program);
}

} // namespace kernelskill::engine::graph
