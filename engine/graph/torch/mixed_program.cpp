#include "engine/graph/torch/mixed_program.h"

#include <map>
#include <set>
#include <utility>

namespace kernelskill::engine::graph {

MixedProgram::MixedProgram(const PreparedProgram& program, const std::vector<PartModel*>& models)
    : program_(&program) {
    auto units = ordered(program.program(), models);
    std::vector<PartModel*> fitting;
    for (std::size_t i = 0; !units && i < models.size(); ++i) {
        fitting.push_back(models[i]);
        if (ordered(program.program(), fitting))
            continue;
        fitting.pop_back();
        leftOut_.push_back(i);
    }
    if (!units)
        units = ordered(program.program(), fitting);
    units_ = *std::move(units); // The program alone has an order.
    findLastUses();
}

std::optional<std::vector<MixedProgram::Unit>>
MixedProgram::ordered(const Program& graph, const std::vector<PartModel*>& models) {
    std::vector<Unit> all;
    std::map<std::string, std::size_t> makers; // Units by the values that they make.
    for (PartModel* model : models)
        all.push_back({nullptr, model, model->reads(), model->makes(), {}});
    for (const Node& node : graph.nodes) {
        Unit& unit = all.emplace_back();
        unit.node = &node;
        for (const NamedArgument& argument : node.arguments)
            for (std::string& value : valuesIn(argument.value))
                unit.reads.push_back(std::move(value));
        for (const auto& names : node.results)
            for (const std::string& name : names)
                if (!name.empty())
                    unit.makes.push_back(name);
    }
    // Models come first: what one makes is its own.
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const std::string& value : all[i].makes)
            makers.try_emplace(value, i);

    std::vector<Unit> order;
    // Depth first, so that what is made is soon read.
    enum class State : std::uint8_t { New, Begun, Done };
    std::vector<State> states(all.size(), State::New);
    struct Visit {
        std::size_t unit;
        std::size_t next = 0; ///< The place of the value that is looked at next.
    };
    for (const Output& output : graph.outputs) {
        std::vector<Visit> visits;
        const auto enter = [&](const std::string& value) -> bool {
            const auto maker = makers.find(value);
            if (maker == makers.end() || states[maker->second] == State::Done)
                return true;
            if (states[maker->second] == State::Begun)
                return false;
            states[maker->second] = State::Begun;
            visits.push_back({maker->second});
            return true;
        };
        bool isOrdered = enter(output.value);
        while (isOrdered && !visits.empty()) {
            Visit& visit = visits.back();
            const Unit& unit = all[visit.unit];
            if (visit.next < unit.reads.size()) {
                isOrdered = enter(unit.reads[visit.next++]);
                continue;
            }
            states[visit.unit] = State::Done;
            order.push_back(unit);
            visits.pop_back();
        }
        if (!isOrdered)
            return std::nullopt;
    }
    return order;
}

void MixedProgram::findLastUses() {
    std::set<std::string> needed;
    for (const Output& output : program_->program().outputs)
        needed.insert(output.value);
    for (auto unit = units_.rbegin(); unit != units_.rend(); ++unit)
        for (const auto* values : {&unit->makes, &unit->reads})
            for (const std::string& value : *values)
                if (needed.insert(value).second)
                    unit->done.push_back(value);
}

Result<Values> MixedProgram::run(Values values, const c10::Stream& stream,
                                 bool usesDefaults) const {
    const at::NoGradGuard withoutGradients;
    for (const Unit& unit : units_) {
        if (unit.node != nullptr)
            useTf32(false);
        const Tf32Limit limit(unit.node != nullptr && !usesDefaults);
        auto done = unit.model != nullptr ? unit.model->run(values, stream)
                                          : program_->runNode(*unit.node, values);
        if (!done)
            return std::unexpected(done.error());
        for (const std::string& value : unit.done)
            values.erase(value);
    }
    return values;
}

} // namespace kernelskill::engine::graph
