function e(e){let t=(e.get(`text`)??``).trim(),n=(e.get(`url`)??``).trim();return{title:(e.get(`title`)??``).trim(),text:t===n?``:t,url:/^https?:\/\//i.test(n)?n:``}}function t(e,t=new Date){let n=e=>String(e).padStart(2,`0`);return(e.title||(e.text.split(`
`,1)[0]??``)).replace(/https?:\/\/\S+/g,` `).replace(/[\p{C}\\/:*?"<>|#^[\]]/gu,` `).replace(/\s+/g,` `).replace(/^[. ]+|[. ]+$/g,``).slice(0,80).trim()||`Shared ${t.getFullYear()}-${n(t.getMonth()+1)}-${n(t.getDate())} ${n(t.getHours())}.${n(t.getMinutes())}`}function n(e,t,n){let r=[`# ${t}`,e.text,e.url?`<${e.url.replace(/[<>\s]/g,encodeURIComponent)}>`:``].filter(Boolean);return`${n?`---
untrusted: true
---
`:``}${r.join(`

`)}\n`}function r(e){return`javascript:(()=>{let t=String(getSelection());while(encodeURIComponent(t).length>9e3)t=t.slice(0,t.length*.9).replace(/[\\ud800-\\udbff]$/,'');open(${JSON.stringify(e)}+'/share?'+new URLSearchParams({title:document.title.slice(0,200),url:location.href.slice(0,2e3),text:t}))})()`}export{e as i,t as n,n as r,r as t};