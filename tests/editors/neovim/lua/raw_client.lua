--- A client that does nothing but ask: what the server itself takes for an answer, from the first byte written to the
--- last byte read, without Neovim's decoding and scheduling.
local M = {}

local function frame(message)
    local body = vim.json and vim.json.encode(message) or vim.fn.json_encode(message)
    return ('Content-Length: %d\r\n\r\n%s'):format(#body, body)
end

--- Starts the server and opens the text in it.
---@param server string executable
---@param uri string
---@param text string
---@return table client with ask(method, params), which returns the answer's text when it is there, and close()
function M.start(server, uri, text)
    local input, output = vim.loop.new_pipe(false), vim.loop.new_pipe(false)
    local process = vim.loop.spawn(server, { args = { 'lsp' }, stdio = { input, output, nil } }, function() end)
    assert(process, 'the server did not start')
    local pending, serial = '', 0
    --- Numbers of the requests that have an answer.
    local answered = {}
    local function take(body)
        -- Only the number is wanted: decoding is the client's time. An answer is told from a request by its result.
        local id = body:match('"id":(%d+)')
        if id and not body:find('"method":', 1, true) then
            answered[tonumber(id)] = body
        end
    end
    output:read_start(function(err, data)
        assert(not err, err)
        pending = pending .. (data or '')
        while true do
            local length, body = pending:match('^Content%-Length: (%d+)\r\n\r\n()')
            if not length or #pending < body - 1 + length then
                return
            end
            take(pending:sub(body, body + length - 1))
            pending = pending:sub(body + length)
        end
    end)
    local function send(message)
        message.jsonrpc = '2.0'
        input:write(frame(message))
    end
    local client = {}
    function client.ask(method, params)
        serial = serial + 1
        local id = serial
        send({ id = id, method = method, params = params })
        assert(vim.wait(60000, function()
            return answered[id]
        end, 1), 'no answer to ' .. method)
        return answered[id]
    end
    function client.close()
        client.ask('shutdown', vim.NIL)
        send({ method = 'exit', params = vim.NIL })
        input:close()
        output:close()
    end
    client.ask('initialize', {
        processId = vim.fn.getpid(),
        rootUri = vim.NIL,
        capabilities = vim.lsp.protocol.make_client_capabilities(),
    })
    send({ method = 'initialized', params = vim.empty_dict() })
    send({
        method = 'textDocument/didOpen',
        params = { textDocument = { uri = uri, languageId = 'cuda', version = 0, text = text } },
    })
    return client
end

return M
