# Completion of hostnet for fish: hostnet completion fish | source

function __hostnet_complete
    set -lx _HOSTNET_COMPLETE complete_fish
    set -lx _TYPER_COMPLETE_FISH_ACTION get-args
    set -lx _TYPER_COMPLETE_ARGS (commandline -cp)
    set -l replies (hostnet 2>/dev/null | string match --regex '.+')
    if test (count $replies) -gt 0
        printf '%s\n' $replies
    else
        __fish_complete_path (commandline -ct)
    end
end

complete --command hostnet --no-files --arguments '(__hostnet_complete)'
