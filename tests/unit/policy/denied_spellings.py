"""Denials of options, and command lines with what they do: judged by the programs, before any comparison.

`facts | command` under the section of its program. A fact with `?` is one that cannot be told, or nearly the
denied one: it asks. What stands in a line was tried with the program (`denial_oracle` does it again) or is from
its documentation. `-` marks a fact that no denial names.

`cp -S -r` and `--exclude --delete` are stopped as they were before the meaning counted: an option that no list
of old has may take a value or none, and a denial in doubt matches. They do not do what is denied.
"""

DENIALS = """
[git push]
force        | git push --force *
force        | git push -f *
force        | git push --force:*
force main   | git push origin +main *
main         | git push origin main *
delete       | git push --delete *
noverify     | git push --no-verify *
mirror       | git push --mirror *
[git commit]
amend        | git commit --amend *
noverify     | git commit -n *
[git reset]
hard         | git reset --hard *
[git clean]
force dirs   | git clean -fd *
ignored      | git clean -x *
[git branch]
delete force | git branch -D *
delete       | git branch --delete *
[git checkout]
force        | git checkout -f *
[git add]
all          | git add -A *
[git stash]
untracked    | git stash -u *
[git tag]
delete       | git tag -d *
[git rebase]
interactive  | git rebase -i *
[git worktree]
force        | git worktree remove --force *
[rm]
recursive force       | rm -rf *
recursive             | rm -r *
recursive force build | rm -rf build *
[chmod]
recursive all | chmod -R 777 *
all           | chmod 777 *
[chown]
recursive    | chown -R *
[kill]
kill         | kill -9 *
[sed]
inplace      | sed -i *
[find]
delete       | find -delete *
[tar]
extract      | tar -x *
[cp]
recursive    | cp -r *
[mv]
force        | mv -f *
[curl]
post         | curl -X POST *
insecure     | curl -k *
delete       | curl --request DELETE *
[wget]
nocheck      | wget --no-check-certificate *
[rsync]
delete       | rsync --delete *
[docker]
run privileged | docker run --privileged *
run volume     | docker run -v *
prune all      | docker system prune -a *
down volumes   | docker compose down -v *
[kubectl]
delete all       | kubectl delete --all *
delete namespace | kubectl delete namespace *
[npm]
install global | npm install -g *
publish        | npm publish *
[pip]
install break  | pip install --break-system-packages *
[terraform]
apply approve  | terraform apply -auto-approve *
destroy        | terraform destroy *
[gh]
merge admin    | gh pr merge --admin *
[cargo]
publish dirty  | cargo publish --allow-dirty *
[systemctl]
stop nginx     | systemctl stop nginx *
[make]
deploy         | make deploy *
[sudo]
recursive force | sudo rm -rf *
[shipit]
push force     | shipit push --force *
"""

SPELLINGS = """
[git push]
force main          | git push --force origin main
force main          | git push -f origin main
force main          | git push origin main --force
force main          | git push origin main -f
force main          | git push origin --force main
force main          | git push -fu origin main
force main          | git push -uf origin main
force main          | git push -qf origin main
force main          | git push --set-upstream --force origin main
force main          | git push origin +main
force main          | git push origin +main:main
force main          | git push origin +HEAD:main
force main          | git push origin +refs/heads/main:refs/heads/main
force main          | git -C . push -f origin main
force main          | git --no-pager push origin main -f
force main          | git push --no-force --force origin main
force main          | git push --verbose -f -- origin main
force main          | git push --repo=origin -f origin main
force main          | git push -o ci.skip -f origin main
force main          | git push --atomic --force origin main
force main          | git push "origin" 'main' "--force"
force main          | git push  --force   origin   main
force               | git push origin +dev
force               | git push -f origin dev
force               | git push origin dev --force
force               | git push --all -f origin
force delete mirror | git push --mirror origin
force delete mirror | git push --mirr origin
force delete mirror | git push -q --mirror origin
force? main         | git push --force-with-lease origin main
force? main         | git push --force-with-lease=main origin main
force? main         | git push origin main --force-with-l
force? main         | git push --forc origin main
force? main         | git push --for origin main
main                | git push --force-if-includes origin main
main                | git push origin main
main                | git push origin HEAD:main
main                | git push origin refs/heads/main
main                | git push -u origin main
main                | git push --no-force origin main
main                | git push -o --force origin main
main                | git push origin dev main
main                | git push --push-option=--force origin main
-                   | git push origin dev
-                   | git push -u origin dev
-                   | git push --tags origin
-                   | git push --dry-run origin dev
delete              | git push --delete origin gone
delete              | git push -d origin gone
delete              | git push origin --delete gone
delete              | git push origin :gone
delete              | git push origin :refs/heads/gone
delete              | git push --del origin gone
delete?             | git push --prune origin refs/heads/*:refs/heads/*
noverify main       | git push --no-verify origin main
noverify main       | git push origin main --no-verify
noverify main       | git push --no-veri origin main
noverify force main | git push -f --no-verify origin main
[git commit]
amend          | git commit --amend --no-edit
amend          | git commit --no-edit --amend
amend          | git commit -a --amend --no-edit
amend          | git commit --amen --no-edit
amend          | git commit --am --no-edit
amend          | git commit -qam "again" --amend
amend          | git commit -m "again" --amend -q
amend          | git commit --allow-empty --amend -m x
amend noverify | git commit --amend -n --no-edit
noverify       | git commit -nam "x"
noverify       | git commit -m x --no-verify --allow-empty
noverify       | git commit --allow-empty -nm x
noverify       | git commit -anm x
noverify       | git commit --no-verif -am x
-              | git commit -am "text with --amend"
-              | git commit -a -m --amend
-              | git commit -a --message=--amend
-              | git commit -am"n"
-              | git commit -a -m "-n"
-              | git commit --allow-empty -m x
-              | git commit --message "--no-verify" -a
-              | git commit -a --author "A <a@b.example>" -m x
[git reset]
hard           | git reset --hard
hard           | git reset --hard HEAD~1
hard           | git reset HEAD~1 --hard
hard           | git reset -q --hard HEAD
hard           | git reset --har HEAD
hard           | git reset --ha
hard           | git reset HEAD --quiet --hard
-              | git reset --soft HEAD~1
-              | git reset -q
-              | git reset --mixed HEAD
-              | git reset HEAD -- tracked.txt
[git clean]
force dirs         | git clean -fd
force dirs         | git clean -df
force dirs         | git clean -f -d
force dirs         | git clean -d --force
force dirs         | git clean --forc -d
force dirs         | git clean -qfd
force dirs ignored | git clean -xfd
force dirs ignored | git clean -fdx
force dirs ignored | git clean -f -x -d
force ignored      | git clean -fx
force ignored?     | git clean -fX
force              | git clean -f
force              | git clean -qf
force              | git clean -f -e x
-                  | git clean -n
force dirs         | git clean -d -f -- tree
force dirs         | git clean -f junk
force dirs         | git clean tree --force
[git branch]
delete force | git branch -D gone
delete force | git branch -d -f gone
delete force | git branch -df gone
delete force | git branch -fd gone
delete force | git branch --delete --force gone
delete force | git branch --force --delete gone
delete force | git branch --del --forc gone
delete force | git branch gone -D
delete force | git branch -qD gone
delete       | git branch -d merged
delete       | git branch --delete merged
delete       | git branch --dele merged
force        | git branch -f merged HEAD
-            | git branch --list
-            | git branch -a
-            | git branch -m gone renamed
-            | git branch -vv
[git checkout]
force        | git checkout -f dev
force        | git checkout --force dev
force        | git checkout dev -f
force        | git checkout -qf dev
force        | git checkout --forc dev
-            | git checkout dev
-            | git checkout -b new
-            | git checkout -q dev
-            | git checkout -b -f
-            | git checkout -B -q
[git add]
all          | git add -A
all          | git add --all
all          | git add --al
all          | git add -vA
all          | git add -A -v
all          | git add --no-ignore-removal
all          | git add . --all
all          | git stage -A
all?         | git add -u
-            | git add tracked.txt
-            | git add -v tracked.txt
-            | git add -- -A
[git stash]
untracked    | git stash -u
untracked    | git stash --include-untracked
untracked    | git stash push -u
untracked    | git stash push --include-u
untracked    | git stash push -qu
untracked    | git stash -qu
untracked    | git stash push -m x -u
untracked    | git stash save -u
untracked    | git stash -a
untracked    | git stash push --all
untracked    | git stash -qa
-            | git stash
-            | git stash push
-            | git stash push -m -u
-            | git stash list
[git tag]
delete       | git tag -d old
delete       | git tag --delete old
delete       | git tag --del old
delete       | git tag old -d
-            | git tag new
-            | git tag -a new -m -d
-            | git tag -l
[git rebase]
interactive  | git rebase -i HEAD~2
interactive  | git rebase --interactive HEAD~2
interactive  | git rebase HEAD~2 -i
interactive  | git rebase -qi HEAD~2
interactive  | git rebase --inter --root
interactive  | git rebase --onto dev -i HEAD~1
-            | git rebase HEAD~2
-            | git rebase -q HEAD~1
-            | git rebase --no-autosquash HEAD~1
[git worktree]
force        | git worktree remove --force ../tree
force        | git worktree remove -f ../tree
force        | git worktree remove ../tree --force
force        | git worktree remove ../tree -f
force        | git worktree remove --forc ../tree
-            | git worktree remove ../tree
-            | git worktree list
-            | git worktree add --force ../tree
[rm]
recursive force build | rm -rf build
recursive force build | rm -fr build
recursive force build | rm -r -f build
recursive force build | rm -f -r build
recursive force build | rm -Rf build
recursive force build | rm -rfv build
recursive force build | rm -vrf build
recursive force build | rm --recursive --force build
recursive force build | rm --recursive -f build
recursive force build | rm --rec --fo build
recursive force build | rm build -rf
recursive force build | rm -r build -f
recursive force build | rm -r ./build -f
recursive force build | rm -rf build/
recursive force build | rm -rf -- build
recursive force build | rm -rf a.txt build
recursive force build | /bin/rm -fr build
recursive force build | rm -rf "build"
recursive force build | rm '-rf' build
recursive force build | rm -r"f" build
recursive force       | rm -fr other
recursive force       | rm -rf ./other a.txt
recursive force       | rm --force --recursive other
recursive             | rm -r other
recursive             | rm -R other
recursive             | rm --recursive other
recursive             | rm --recurs other
recursive             | rm -rv other
recursive             | rm other -r
-                     | rm a.txt
force                 | rm -f a.txt
-                     | rm -- a.txt
-                     | rm -v a.txt
force                 | rm --force a.txt
[chmod]
recursive all | chmod -R 777 tree
recursive all | chmod 777 -R tree
recursive all | chmod --recursive 777 tree
recursive all | chmod --recurs 0777 tree
recursive all | chmod -vR 777 tree
recursive all | chmod -R a+rwx tree
recursive all | chmod -R ugo=rwx tree
all           | chmod 777 a.txt
all           | chmod 0777 a.txt
all           | chmod a=rwx a.txt
all           | chmod -v 777 a.txt
recursive     | chmod -R 755 tree
recursive     | chmod -R u+w tree
-             | chmod 644 a.txt
-             | chmod +x a.txt
-             | chmod -x a.txt
[chown]
recursive    | chown -R 0 tree
recursive    | chown 0 -R tree
recursive    | chown --recursive 0:0 tree
recursive    | chown --recur 0 tree
recursive    | chown -hR 0 tree
-            | chown 0 a.txt
-            | chown -h 0 a.txt
[kill]
kill         | kill -9 PID
kill         | kill -KILL PID
kill         | kill -SIGKILL PID
kill         | kill -s 9 PID
kill         | kill -s KILL PID
kill         | kill -s SIGKILL PID
kill         | kill -n 9 PID
kill         | kill -s kill PID
-            | kill PID
-            | kill -15 PID
-            | kill -TERM PID
-            | kill -s TERM PID
-            | kill -HUP PID
[sed]
inplace      | sed -i s/a/b/ a.txt
inplace      | sed -i.bak s/a/b/ a.txt
inplace      | sed --in-place s/a/b/ a.txt
inplace      | sed --in-place=.bak s/a/b/ a.txt
inplace      | sed --in-p s/a/b/ a.txt
inplace      | sed -n -i p a.txt
inplace      | sed -ni p a.txt
inplace      | sed -Ei s/a/b/ a.txt
inplace      | sed s/a/b/ -i a.txt
inplace      | sed -e s/a/b/ -i a.txt
inplace      | sed s/a/b/ a.txt -i
-            | sed s/a/b/ a.txt
-            | sed -n p a.txt
-            | sed -e s/-i/b/ a.txt
-            | sed -E -e p a.txt
[find]
delete       | find . -name a.txt -delete
delete       | find tree -type f -delete
delete       | find . -maxdepth 1 -name a.txt -delete
delete       | find . -name a.txt -print -delete
-            | find . -name a.txt
-            | find . -name -delete
-            | find tree -type f -print
[tar]
extract      | tar -xf old.tar
extract      | tar xf old.tar
extract      | tar -x -f old.tar
extract      | tar --extract --file old.tar
extract      | tar --extract -f old.tar
extract      | tar --get --file=old.tar
extract      | tar -vxf old.tar
extract      | tar vxf old.tar
extract      | tar -f old.tar -x
extract      | tar --extr -f old.tar
extract      | tar xfC old.tar tree
-            | tar -tf old.tar
-            | tar -cf x.tar a.txt
-            | tar cf x.tar a.txt
-            | tar -t -f old.tar
[cp]
recursive    | cp -r tree new
recursive    | cp -R tree new
recursive    | cp --recursive tree new
recursive    | cp --recur tree new
recursive    | cp -a tree new
recursive    | cp --archive tree new
recursive    | cp -vr tree new
recursive    | cp tree new -r
recursive    | cp -pR tree new
-            | cp a.txt new
-            | cp -p a.txt new
recursive    | cp -S -r -b a.txt new
[mv]
force        | mv -f a.txt new
force        | mv --force a.txt new
force        | mv a.txt new -f
force        | mv -vf a.txt new
force        | mv --forc a.txt new
-            | mv a.txt new
-            | mv -v a.txt new
-            | mv -n a.txt new
[curl]
post         | curl -X POST URL
post         | curl -XPOST URL
post         | curl --request POST URL
post         | curl URL -X POST
post         | curl -s -X POST URL
post         | curl -sX POST URL
post         | curl -sXPOST URL
post? delete? | curl --reque POST URL
post         | curl -d a=b URL
post         | curl --data a=b URL
post         | curl --data-raw a=b URL
post         | curl --data-binary a=b URL
post         | curl --json {} URL
post         | curl -F a=b URL
post         | curl URL -sd a=b
delete       | curl -X DELETE URL
delete       | curl -XDELETE URL
delete       | curl -s --request DELETE URL
delete       | curl URL -X DELETE
insecure     | curl -k URL
insecure     | curl --insecure URL
insecure     | curl -sk URL
insecure     | curl -skL URL
insecure     | curl URL --insecure
insecure     | curl --insec URL
post insecure | curl -kd a=b URL
-            | curl URL
-            | curl -s URL
-            | curl -G -d a=b URL
-            | curl -X PUT -d a=b URL
-            | curl -H "X: -X POST" URL
-            | curl -I URL
-            | curl -o /dev/null URL
-            | curl -u k:k URL
[wget]
nocheck      | wget --no-check-certificate -q URL
nocheck      | wget -q URL --no-check-certificate
nocheck      | wget --no-check-cert URL
-            | wget -q URL
-            | wget -nc URL
-            | wget -O x URL
[rsync]
delete       | rsync -a --delete a/ b/
delete       | rsync --delete -av a/ b/
delete       | rsync -a a/ b/ --delete
delete       | rsync -a --del a/ b/
delete       | rsync -a --delete-after a/ b/
delete       | rsync -a --delete-excluded a/ b/
-            | rsync -a a/ b/
delete       | rsync -av --exclude --delete a/ b/
[docker]
run privileged | docker run --privileged alpine
run privileged | docker run -it --privileged alpine sh
run privileged | docker run --rm --privileged=true alpine
run privileged | docker container run --privileged alpine
run privileged | docker --context x run --privileged alpine
run privileged volume | docker --unheard run --privileged -v /:/x alpine
run volume     | docker run -v /:/host alpine
run volume     | docker run --volume /:/host alpine
run volume     | docker run --volume=/:/host alpine
run volume     | docker run -itv /:/host alpine
run volume     | docker run -v/:/host alpine
run volume?    | docker run --mount type=bind,src=/,dst=/host alpine
run privileged? | docker run --cap-add ALL alpine
run            | docker run alpine
run            | docker run --rm -it alpine
run            | docker run alpine echo -v
run            | docker run -e -v alpine
run            | docker run alpine --privileged
prune all      | docker system prune -a
prune all      | docker system prune -af
prune all      | docker system prune -f --all
prune all      | docker system prune --all --volumes
prune          | docker system prune -f
down volumes   | docker compose down -v
down volumes   | docker compose down --volumes
down volumes   | docker compose -f x.yml down -v
down volumes   | docker compose down --remove-orphans -v
down volumes   | docker-compose down -v
down           | docker compose down
down           | docker compose down -t 5
[kubectl]
delete all       | kubectl delete pods --all
delete all       | kubectl delete --all pods -n x
delete all       | kubectl -n x delete pods --all=true
delete           | kubectl delete pods --all=false
delete namespace | kubectl delete namespace prod
delete namespace | kubectl delete ns prod
delete namespace | kubectl delete namespaces prod
delete namespace | kubectl delete ns/prod
delete namespace | kubectl -n x delete namespace/prod
delete namespace | kubectl delete --wait=false ns prod
delete namespace all | kubectl delete ns --all
delete           | kubectl delete pod web
delete           | kubectl delete -f x.yaml
-                | kubectl get namespace
[npm]
install global | npm install -g x
install global | npm i -g x
install global | npm install --global x
install global | npm install x -g
install global | npm add --global x
install global | npm -g install x
install global | npm i --location=global x
install global? | npm install --glob x
install global | npm inst -g x
install        | npm install x
install        | npm i
install        | npm install -D x
publish        | npm publish
publish        | npm publ --tag next
publish        | npm --tag next publish
-              | npm test
-              | npm run publish
-              | npm view x
[pip]
install break  | pip install --break-system-packages x
install break  | pip3 install x --break-system-packages
install break  | python3 -m pip install --break-system-packages x
install break  | pip install --break x
install break  | pip -q install --break-system-packages x
install        | pip install x
install        | pip install -U x
-              | pip uninstall --break-system-packages x
[terraform]
apply approve         | terraform apply -auto-approve
apply approve         | terraform apply --auto-approve
apply approve         | terraform apply -auto-approve=true
apply approve         | terraform -chdir=x apply -auto-approve
apply approve         | terraform apply -lock=false -auto-approve
apply                 | terraform apply
apply destroy         | terraform apply -destroy
apply destroy         | terraform destroy
apply destroy approve | terraform destroy -auto-approve
apply destroy approve | terraform apply -auto-approve -destroy
-                     | terraform plan
-                     | terraform plan -destroy
[gh]
merge admin    | gh pr merge --admin 5
merge admin    | gh pr merge 5 --squash --admin
merge admin    | gh pr merge -s --admin=true 5
merge          | gh pr merge 5 -s
merge          | gh pr merge -b --admin 5
-              | gh pr view 5
[cargo]
publish dirty  | cargo publish --allow-dirty
publish dirty  | cargo publish -p x --allow-dirty
publish dirty  | cargo +nightly publish --allow-dirty
publish dirty  | cargo -q publish --allow-dirty
publish        | cargo publish
publish        | cargo publish -n
-              | cargo build
[systemctl]
stop nginx     | systemctl stop nginx
stop nginx     | systemctl stop nginx.service
stop nginx     | systemctl --now stop nginx
stop nginx     | systemctl stop --no-block nginx
stop nginx     | systemctl stop other nginx
stop           | systemctl stop other
-              | systemctl status nginx
-              | systemctl restart nginx
[make]
deploy         | make deploy
deploy         | make -j4 deploy
deploy         | make build deploy
deploy         | make -C sub deploy
deploy         | make -k -j 4 deploy X=1
-              | make build
-              | make -n build
-              | make -C deploy build
[sudo]
recursive force | sudo rm -rf x
recursive force | sudo rm -fr x
recursive force | sudo -n rm -r -f x
recursive force | sudo -u root rm --recursive --force x
recursive force | sudo -- rm x -rf
recursive       | sudo rm -r x
force           | sudo rm -f x
-               | sudo ls -rf
[shipit]
push force     | shipit push --force x
push force     | shipit push x --force
push force     | shipit push --dry --force
push force?    | shipit push -f x
push force?    | shipit push --forc
push force?    | shipit -x y push -f
push           | shipit push x
push           | shipit push
-              | shipit pull -f
-              | shipit status --force
"""


def rows_of(text):
    """Return (section, facts, command) for each row."""
    section, rows = "", []
    for line in filter(None, map(str.strip, text.strip().splitlines())):
        if line.startswith("["):
            section = line.strip("[]")
            continue
        facts, command = map(str.strip, line.split("|", 1))
        rows.append((section, frozenset(facts.split()) - {"-"}, command))
    return rows


def expected_verdict(denial, spelling):
    """Return what a denial does with a spelling: `deny` with all of its facts, `ask` with some in doubt."""
    (section, wanted, _), (other, facts, _) = denial, spelling
    if section != other and (section, other) != ("rm", "sudo"):
        return "-"
    sure = {fact for fact in facts if not fact.endswith("?")}
    maybe = {fact.rstrip("?") for fact in facts}
    return "deny" if wanted <= sure else "ask" if wanted <= maybe else "-"
